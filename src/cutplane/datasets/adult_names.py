"""What Adult's 123 binary features stand for: the attributes and values of UCI's description, in its order."""

from __future__ import annotations

# The values of an attribute; a number of pieces where a continuous one was cut.
_ATTRIBUTES: dict[str, str | int] = {
    "age": 5,
    "workclass": "Private Self-emp-not-inc Self-emp-inc Federal-gov Local-gov State-gov Without-pay Never-worked",
    "fnlwgt": 5,
    "education": "Bachelors Some-college 11th HS-grad Prof-school Assoc-acdm Assoc-voc 9th 7th-8th 12th Masters "
    "1st-4th 10th Doctorate 5th-6th Preschool",
    "education years": 5,
    "marital status": "Married-civ-spouse Divorced Never-married Separated Widowed Married-spouse-absent "
    "Married-AF-spouse",
    "occupation": "Tech-support Craft-repair Other-service Sales Exec-managerial Prof-specialty Handlers-cleaners "
    "Machine-op-inspct Adm-clerical Farming-fishing Transport-moving Priv-house-serv Protective-serv Armed-Forces",
    "relationship": "Wife Own-child Husband Not-in-family Other-relative Unmarried",
    "race": "White Asian-Pac-Islander Amer-Indian-Eskimo Other Black",
    "sex": "Female Male",
    "capital gain": "none some",
    "capital loss": "none some",
    "hours per week": 5,
    "native country": "United-States Cambodia England Puerto-Rico Canada Germany Outlying-US India Japan Greece South "
    "China Cuba Iran Honduras Philippines Italy Poland Jamaica Vietnam Mexico Portugal Ireland France "
    "Dominican-Republic Laos Ecuador Taiwan Haiti Columbia Hungary Guatemala Nicaragua Scotland Thailand Yugoslavia "
    "El-Salvador Trinidad-Tobago Peru Hong-Kong Netherlands",
}


def adult_feature_names() -> list[str]:
    """Return the names of Adult's features, in the order of the columns.

    Returns
    -------
    list of str
        Such as "education: Masters"; of a continuous attribute, the piece: "age: 5th of 5".

    Examples
    --------
    >>> from cutplane.datasets import adult_feature_names
    >>> names = adult_feature_names()
    >>> len(names), names[0], names[-1]
    (123, 'age: 1st of 5', 'native country: Netherlands')
    """
    return [f"{attribute}: {value}" for attribute, values in _ATTRIBUTES.items() for value in _values(values)]


def _values(values: str | int) -> list[str]:
    if isinstance(values, str):
        return values.split()
    return [f"{rank} of {values}" for rank in ("1st", "2nd", "3rd", "4th", "5th")[:values]]
