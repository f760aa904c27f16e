"""Support vector machines and kernel classifiers: exact, certified, fast, behind scikit-learn's interface.

>>> import maxmargin
>>> model = maxmargin.SVC().fit([[0.0], [1.0]], ["no", "yes"])
>>> model.predict([[0.9]])
array(['yes'], dtype='<U3')
>>> model.certificate_.gap < 1e-9
True
"""

from ._certificate import Certificate
from ._discriminant import LinearDiscriminantAnalysis
from ._engine import __version__
from ._errors import ConvergenceWarning, DataConversionWarning, InputError, InternalError, NotFittedError
from ._kernel_models import RVC, KernelPerceptron
from ._linear_svm import LinearSVC, LinearSVR
from ._loading import load
from ._logistic import LogisticRegression
from ._maps import Nystroem, PolynomialLift, RBFSampler
from ._patch import FallbackWarning, patch_sklearn, unpatch_sklearn
from ._perceptron import Perceptron
from ._review import doctor
from ._sgd import SGDClassifier
from ._svm import SVC, SVDD, SVR, NuSVC, NuSVR, OneClassSVM
from ._tuned import Honest, Tuned
from ._tuned_estimators import SVCCV, SVRCV, LinearSVCCV, OneClassSVMCV
from ._tuning import TuneSession, tune

__all__ = [
    "Certificate",
    "ConvergenceWarning",
    "DataConversionWarning",
    "FallbackWarning",
    "Honest",
    "InputError",
    "InternalError",
    "KernelPerceptron",
    "LinearDiscriminantAnalysis",
    "LinearSVC",
    "LinearSVCCV",
    "LinearSVR",
    "LogisticRegression",
    "NotFittedError",
    "NuSVC",
    "NuSVR",
    "Nystroem",
    "OneClassSVM",
    "OneClassSVMCV",
    "Perceptron",
    "PolynomialLift",
    "RBFSampler",
    "RVC",
    "SGDClassifier",
    "SVC",
    "SVCCV",
    "SVDD",
    "SVR",
    "SVRCV",
    "TuneSession",
    "Tuned",
    "__version__",
    "doctor",
    "load",
    "patch_sklearn",
    "tune",
    "unpatch_sklearn",
]


def __getattr__(name):
    # Made of scikit-learn's class, whose import takes longer than most fits; for the same reason it is not in `__all__`.
    if name == "GridSearchCV":
        from . import _grid_search

        return _grid_search.GridSearchCV
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
