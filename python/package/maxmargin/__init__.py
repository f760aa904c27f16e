"""Support vector machines and kernel classifiers: exact, certified, fast, behind scikit-learn's interface.

>>> import maxmargin
>>> model = maxmargin.SVC().fit([[0.0], [1.0]], ["no", "yes"])
>>> model.predict([[0.9]])
array(['yes'], dtype='<U3')
>>> model.certificate_.gap < 1e-9
True
"""

from ._certificate import Certificate
from ._engine import __version__
from ._errors import ConvergenceWarning, DataConversionWarning, InputError, InternalError, NotFittedError
from ._kernel_models import RVC, KernelPerceptron
from ._loading import load
from ._maps import Nystroem, PolynomialLift, RBFSampler
from ._patch import FallbackWarning, patch_sklearn, unpatch_sklearn
from ._svm import SVC, SVDD, SVR, NuSVC, NuSVR, OneClassSVM

__all__ = [
    "Certificate",
    "ConvergenceWarning",
    "DataConversionWarning",
    "FallbackWarning",
    "InputError",
    "InternalError",
    "KernelPerceptron",
    "NotFittedError",
    "NuSVC",
    "NuSVR",
    "Nystroem",
    "OneClassSVM",
    "PolynomialLift",
    "RBFSampler",
    "RVC",
    "SVC",
    "SVDD",
    "SVR",
    "__version__",
    "load",
    "patch_sklearn",
    "unpatch_sklearn",
]
