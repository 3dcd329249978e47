"""Dates as numbers."""

import datetime as dt

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from kerndict.tabular import DateEncoder

DATES = pd.to_datetime(
    ["1970-01-02", "2024-02-29", "2024-12-31 18:30", "1969-12-31"], format="mixed"
)
EXPECTED = np.array(
    [
        [
            (d - pd.Timestamp(0)) / pd.Timedelta(days=1),
            d.day_of_year,
            d.weekday(),
            d.hour + d.minute / 60,
        ]
        for d in DATES
    ]
)


@pytest.mark.parametrize(
    "column",
    [
        DATES.strftime("%Y-%m-%d %H:%M"),
        DATES.strftime("%Y-%m-%dT%H:%M:%S"),
        DATES.strftime("%d/%m/%Y %H:%M"),
        DATES.strftime("%m/%d/%Y %H:%M"),
        DATES.strftime("%d.%m.%Y %H:%M:%S"),
        DATES,
        list(DATES),
        [d.to_pydatetime() for d in DATES],
        [f"{d.isoformat()}.000000000" for d in DATES],
        [f"{(d + pd.Timedelta(hours=2)).isoformat()}+02:00" for d in DATES],
    ],
)
def test_dates_however_they_are_written(column):
    X = pd.DataFrame({"when": column})
    encoder = DateEncoder().fit(X)
    np.testing.assert_allclose(encoder.transform(X), EXPECTED)
    names = ["when_days", "when_yearday", "when_weekday", "when_hour"]
    assert encoder.get_feature_names_out().tolist() == names


def test_days_alone_have_no_hour():
    X = [["2024-02-29", "1/2/2024"], ["", "31/1/2024"], [None, "2/1/2024"], [np.nan, "x"]]
    encoder = DateEncoder().fit(X[:3])
    found = encoder.transform(X)
    assert encoder.formats_.tolist() == ["iso", "%d/%m/%Y"]
    assert encoder.has_time_.tolist() == [False, False]
    assert found[0, :3].tolist() == [19782, 60, 3]
    assert np.isnan(found[1:, :3]).all()
    assert found[:3, 4].tolist() == [32, 31, 2]  # day first, as 31 is no month
    assert np.isnan(found[3, 3:]).all()


def test_what_holds_no_dates():
    with pytest.raises(ValueError, match="column 1 holds no dates"):
        DateEncoder().fit([["2024-02-29", "x"]])
    with pytest.raises(ValueError, match="column 0 holds no dates, or several kinds"):
        DateEncoder().fit([["2024-02-29"], ["29.2.2024"]])
    fitted = DateEncoder().fit([[dt.date(2024, 2, 29)]])
    with pytest.raises(ValueError, match="2 features"):
        fitted.transform([["2024-02-29", "2024-02-29"]])
    assert not hasattr(clone(fitted), "formats_")
