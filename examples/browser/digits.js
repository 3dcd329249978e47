// A drawing becomes 64 numbers, as the digits of scikit-learn did; digits.onnx does the rest.
import * as ort from "./node_modules/onnxruntime-web/dist/ort.wasm.min.mjs";

ort.env.wasm.numThreads = 1; // more would need a page with special headers

const FIELD = 32, BLOCK = 4, PEN = 5;
const canvas = document.getElementById("field");
const pen = canvas.getContext("2d");
const small = new OffscreenCanvas(FIELD, FIELD).getContext("2d", { willReadFrequently: true });
const answer = document.getElementById("answer");
const note = document.getElementById("note");
const bars = Array.from({ length: 10 }, (_, digit) => {
  const row = document.createElement("div");
  row.className = "digit";
  row.innerHTML = `<span>${digit}</span><span class="bar"></span>`;
  document.getElementById("bars").append(row);
  return row.lastChild;
});
let strokes = []; // lists of points, one per stroke

function draw(context, lines, width) {
  context.clearRect(0, 0, context.canvas.width, context.canvas.height);
  context.lineWidth = width;
  context.lineCap = context.lineJoin = "round";
  for (const line of lines) {
    context.beginPath();
    context.moveTo(...line[0]);
    for (const point of line.length > 1 ? line : [line[0]]) context.lineTo(...point);
    context.stroke();
  }
}

// The strokes in the middle of the small field, as large as it allows.
function fitted() {
  const xs = strokes.flat().map((p) => p[0]), ys = strokes.flat().map((p) => p[1]);
  const left = Math.min(...xs), right = Math.max(...xs);
  const top = Math.min(...ys), bottom = Math.max(...ys);
  const scale = (FIELD - PEN) / Math.max(right - left, bottom - top, 1);
  return strokes.map((line) => line.map(([x, y]) => [
    FIELD / 2 + (x - (left + right) / 2) * scale,
    FIELD / 2 + (y - (top + bottom) / 2) * scale,
  ]));
}

// How many points of every block of 4 x 4 are covered: 64 numbers from 0 to 16.
function numbers() {
  draw(small, fitted(), PEN);
  const pixels = small.getImageData(0, 0, FIELD, FIELD).data;
  const counts = new Float32Array(64);
  for (let y = 0; y < FIELD; y++)
    for (let x = 0; x < FIELD; x++)
      if (pixels[4 * (y * FIELD + x) + 3] > 127)
        counts[8 * Math.floor(y / BLOCK) + Math.floor(x / BLOCK)] += 1;
  return counts;
}

async function classify() {
  const X = numbers();
  const found = await session.run({ X: new ort.Tensor("float32", X, [1, 64]) });
  const label = Number(found.label.data[0]);
  const share = found.probabilities.data[label];
  const typical = found.typicality.data[0];
  answer.textContent = `${label}, with ${Math.round(100 * share)} %`;
  note.textContent = typical < 0.01 ? "It is unlike the digits that the model has seen." : "";
  bars.forEach((bar, digit) => { bar.style.width = `${100 * found.probabilities.data[digit]}%`; });
  window.last = { X: [...X], label, probabilities: [...found.probabilities.data] };
}

function place(event) {
  const box = canvas.getBoundingClientRect(), scale = canvas.width / box.width;
  return [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
}

canvas.addEventListener("pointerdown", (event) => {
  canvas.setPointerCapture(event.pointerId);
  strokes.push([place(event)]);
  draw(pen, strokes, 18);
});
canvas.addEventListener("pointermove", (event) => {
  if (!canvas.hasPointerCapture(event.pointerId)) return;
  strokes.at(-1).push(place(event));
  draw(pen, strokes, 18);
});
canvas.addEventListener("pointerup", classify);
document.getElementById("clear").addEventListener("click", () => {
  strokes = [];
  draw(pen, strokes, 18);
  answer.textContent = "Draw a digit.";
  note.textContent = "";
  bars.forEach((bar) => { bar.style.width = "0"; });
});

const session = await ort.InferenceSession.create("digits.onnx");
answer.textContent = "Draw a digit.";
