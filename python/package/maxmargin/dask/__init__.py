"""Linear machines trained on the rows of a Dask cluster: exact, certified, and the same bits whatever becomes of its workers.

    client = distributed.Client(..)
    model = DaskLinearSVC(C=1.0).fit(X, y)      # arrays or frames of Dask, or read("folder/*.parquet", label="y")
    model.certificate_.relative_gap, model.cluster_
    model.predict(X)                            # lazy

docs/clusters.md says what is promised, and what is not.
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
