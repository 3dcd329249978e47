"""Textbook versions of the core, line by line from the paper; slow and plain on purpose.

Signals are columns.  The equation numbers are those of ``kerndict.core``.
"""

import numpy as np


def omp(Y, D, s, tol=1e-10):
    """Code the columns of Y by OMP with a least-squares solve per step."""
    X = np.zeros((D.shape[1], Y.shape[1]))
    for t, y in enumerate(Y.T):
        support, residual = [], y.copy()
        while len(support) < min(s, *D.shape):
            correlations = np.abs(D.T @ residual)
            correlations[support] = 0
            if correlations.max() <= tol * np.abs(D.T @ y).max():
                break
            support.append(int(np.argmax(correlations)))
            x = np.linalg.lstsq(D[:, support], y, rcond=None)[0]
            residual = y - D[:, support] @ x
        if support:
            X[support, t] = x
    return X


def gram_omp(b, G, s):
    """Return the support of one signal by the rules that open ``kerndict.pursuit.omp``."""
    eps, norms = np.finfo(float).eps, np.sqrt(np.diag(G))
    level = eps ** (3 / 4) * max((abs(b)[norms > 0] / norms[norms > 0]), default=0) * norms
    support = []
    while len(support) < s:
        x = np.linalg.lstsq(G[np.ix_(support, support)], np.eye(len(support)), rcond=None)[0]
        alpha = abs(b - G[:, support] @ x @ b[support])
        p = np.diag(G - G[:, support] @ x @ G[support])
        independent = p > eps ** (2 / 3) * np.diag(G)
        heights = alpha[independent & (alpha > level)]
        if not heights.size:
            break
        support.append(int(np.flatnonzero(independent & (alpha >= heights.max() - level))[0]))
    return support


def kernel_omp(k_y, K, A, s):
    """Kernel OMP: code over the atoms A, from k(Y_i, y) in the columns of k_y."""
    X = np.zeros((A.shape[1], k_y.shape[1]))
    G = A.T @ K @ A
    for t in range(k_y.shape[1]):
        support, x, b = [], np.empty(0), A.T @ k_y[:, t]
        for _ in range(s):
            correlations = np.abs(b - G[:, support] @ x)
            correlations[support] = 0
            support.append(int(np.argmax(correlations)))
            x = np.linalg.solve(G[np.ix_(support, support)], b[support])
        X[support, t] = x
    return X


def atom_objective(M, F, a, x, P, gamma):
    """Return Eq. (8), with the metric M (the identity gives Eq. (4))."""
    rest = F - np.outer(a, x)
    return np.trace(rest.T @ M @ rest) + 2 * gamma * a @ P @ a


def exact_atom(M, F, x, P, gamma):
    """Return Eq. (12) by a dense solve; least squares when M is singular."""
    return np.linalg.lstsq((x @ x) * M + 2 * gamma * P, M @ F @ x, rcond=1e-13)[0]


def sweep(M, Z, A, X, P, gamma, exact, uaksvd, rng=None):
    """Run Algorithms 1 and 2: metric M, signals Z in atom coordinates.

    An unused atom becomes a Gaussian one drawn from rng (all of a sweep at once), or with
    the exact step the signal with the largest error that was not taken before.
    """
    A, X = A.copy(), X.copy()
    E = Z - A @ X
    taken = []
    fresh = rng.standard_normal((len(A), np.sum(~X.any(axis=1)))) if rng and not exact else None
    for j in range(A.shape[1]):
        used = np.flatnonzero(X[j])
        if not used.size:
            errors = np.sum(E * (M @ E), axis=0)
            errors[taken] = -1
            taken.append(int(np.argmax(errors)))
            v = Z[:, taken[-1]] if exact else fresh[:, len(taken) - 1]
            A[:, j] = v / np.sqrt(v @ M @ v)
            continue
        x = X[j, used]
        F = E[:, used] + np.outer(A[:, j], x)
        power = M @ F @ x - 2 * gamma * P @ A[:, j]  # Eqs. (5), (18)
        v = exact_atom(M, F, x, P, gamma) if exact else power
        A[:, j] = v / np.sqrt(v @ M @ v)
        if uaksvd:
            X[j, used] = E[:, used].T @ M @ A[:, j] + x  # Eq. (19)
        else:
            X[j, used] = F.T @ M @ A[:, j]
        E[:, used] = F - np.outer(A[:, j], X[j, used])
    return A, X


def idl(Y, D, s, gamma, n_iter, exact, uaksvd, rng=None):
    """Learn one dictionary per class in feature space; return D, X and both terms of (3)."""
    D, X = [d.copy() for d in D], [None] * len(D)
    terms = []
    for _ in range(n_iter):
        for i in range(len(Y)):
            X[i] = omp(Y[i], D[i], s)
            D_bar = np.hstack([D[k] for k in range(len(Y)) if k != i])
            M = np.eye(len(Y[i]))
            D[i], X[i] = sweep(M, Y[i], D[i], X[i], D_bar @ D_bar.T, gamma, exact, uaksvd, rng)
        errors = sum(np.linalg.norm(y - d @ x) ** 2 for y, d, x in zip(Y, D, X, strict=True))
        pairs = [(i, k) for i in range(len(Y)) for k in range(len(Y)) if i != k]
        terms.append([errors, sum(np.linalg.norm(D[i].T @ D[k]) ** 2 for i, k in pairs)])
    return D, X, np.array(terms).T


def ikdl(K, A, s, gamma, n_iter, exact, uaksvd, rng=None):
    """Learn one dictionary per class from kernel blocks K[i][k]; as :func:`idl`, for (7)."""
    A, X = [a.copy() for a in A], [None] * len(A)
    n_classes = len(A)
    terms = []
    for _ in range(n_iter):
        for i in range(n_classes):
            X[i] = kernel_omp(K[i][i], K[i][i], A[i], s)
            K_hat = np.vstack([A[k].T @ K[k][i] for k in range(n_classes) if k != i])  # Eq. (14)
            Z = np.eye(len(K[i][i]))
            P = K_hat.T @ K_hat
            A[i], X[i] = sweep(K[i][i], Z, A[i], X[i], P, gamma, exact, uaksvd, rng)
        rests = [np.eye(len(K[i][i])) - A[i] @ X[i] for i in range(n_classes)]
        errors = sum(np.trace(rests[i].T @ K[i][i] @ rests[i]) for i in range(n_classes))
        pairs = [(i, k) for i in range(n_classes) for k in range(n_classes) if i != k]
        terms.append([errors, sum(np.linalg.norm(A[i].T @ K[i][k] @ A[k]) ** 2 for i, k in pairs)])
    return A, X, np.array(terms).T


def kernel_residual(k_yy, k_y, K, A, x):
    """Return Eq. (21)."""
    return k_yy + x @ A.T @ K @ A @ x - 2 * k_y @ A @ x


def ridge_scores_left_out(Z, labels, weights, ridge, n_classes):
    """Return the scores of every row by ridge regression on all other rows, (N, C)."""
    Y = np.eye(n_classes)[labels]
    scores = np.empty_like(Y)
    for i in range(len(Z)):
        rest = np.arange(len(Z)) != i
        V = Z[rest] * weights[rest, None]
        moment = V.T @ Z[rest] + ridge * np.eye(Z.shape[1])
        scores[i] = Z[i] @ np.linalg.solve(moment, V.T @ Y[rest])
    return scores


def class_left_out(Z, energies, labels, weights, ridge, n_classes):
    """Return what each class leaves of every row, learned without that row, (N, C)."""
    left = np.empty((len(Z), n_classes))
    for i, z in enumerate(Z):
        for c in range(n_classes):
            own = (labels == c) & (np.arange(len(Z)) != i)
            S = (Z[own] * weights[own, None]).T @ Z[own]
            left[i, c] = energies[i] - z @ S @ np.linalg.solve(S + ridge * np.eye(len(z)), z)
    return left


def kernel_ridge(K, labels, weights, ridge, n_classes):
    """Return the scores of kernel ridge regression on the labels for its own rows."""
    root = np.sqrt(weights)
    Y = np.eye(n_classes)[labels] * root[:, None]
    inner = K * np.outer(root, root) + ridge * np.eye(len(K))
    return K * root @ np.linalg.solve(inner, Y)


def logistic_loss(W, Z, labels, importance, base, ridge):
    """Return the log-loss of ``softmax(base + Z W)`` with a quadratic penalty on W."""
    scores = base + Z @ W
    top = scores.max(axis=1)
    log_sums = top + np.log(np.exp(scores - top[:, None]).sum(axis=1))
    return importance @ (log_sums - scores[np.arange(len(Z)), labels]) + ridge / 2 * np.sum(W**2)
