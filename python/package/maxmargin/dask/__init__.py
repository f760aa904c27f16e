"""Linear machines trained on the rows of a Dask cluster: exact, certified, and the same bits whatever becomes of its workers.

>>> from distributed import Client, LocalCluster
>>> import dask.array as da
>>> from maxmargin.dask import DaskLinearSVC
>>> with LocalCluster(n_workers=1, processes=False, dashboard_address=None) as cluster, Client(cluster) as client:
...     X = da.random.default_rng(1).normal(size=(1000, 4), chunks=(250, 4))
...     model = DaskLinearSVC().fit(X, (X[:, 0] > 0).astype(int))
...     model.certificate_.relative_gap < 1e-4, model.verify(X, (X[:, 0] > 0).astype(int))
(True, True)
"""

try:
    import dask  # noqa: F401
    import distributed  # noqa: F401
except ImportError as error:
    raise ImportError(f"maxmargin.dask needs dask and distributed: {error}\nhelp: pip install 'maxmargin[dask]'") from error

from ._cluster import ClusterError, Report
from ._discriminant import DaskLinearDiscriminantAnalysis
from ._estimators import DaskLinearSVC, DaskLinearSVR, DaskLogisticRegression
from ._reading import read

__all__ = ["ClusterError", "DaskLinearDiscriminantAnalysis", "DaskLinearSVC", "DaskLinearSVR", "DaskLogisticRegression", "Report", "read"]
