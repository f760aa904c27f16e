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

__all__ = [
    "Certificate",
    "ConvergenceWarning",
    "DataConversionWarning",
    "FallbackWarning",
    "InputError",
    "InternalError",
    "KernelPerceptron",
    "LinearDiscriminantAnalysis",
    "LinearSVC",
    "LinearSVR",
    "LogisticRegression",
    "NotFittedError",
    "NuSVC",
    "NuSVR",
    "Nystroem",
    "OneClassSVM",
    "Perceptron",
    "PolynomialLift",
    "RBFSampler",
    "RVC",
    "SGDClassifier",
    "SVC",
    "SVDD",
    "SVR",
    "__version__",
    "doctor",
    "load",
    "patch_sklearn",
    "unpatch_sklearn",
]
