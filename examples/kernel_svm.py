"""Kernel SVM: digits with a radial basis function, and what is proven of the model."""

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from cutplane import SVC, LinearSVC


def main() -> None:
    """A linear and a kernel model on the same digits."""
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X / 16.0, y, test_size=0.5, random_state=0)
    linear = LinearSVC(C=0.1).fit(X_train, y_train)
    print(f"linear  accuracy {linear.score(X_test, y_test):.4f}")
    for gamma in (0.01, 0.05, 0.2):
        model = SVC(kernel="rbf", gamma=gamma, C=10.0).fit(X_train, y_train)
        accuracy = model.score(X_test, y_test)
        print(f"RBF, gamma = {gamma:<5g} accuracy {accuracy:.4f}   {len(model.support_)} support vectors")


if __name__ == "__main__":
    main()
