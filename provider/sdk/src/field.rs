//! One attribute's value in a typed model: null, unknown or known.

/// The value of an attribute. `Null` is "not set"; `Unknown` is "not before apply".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Field<T> {
    /// Not set.
    #[default]
    Null,
    /// Not known before apply.
    Unknown,
    /// Set to this.
    Known(T),
}

impl<T> Field<T> {
    /// Whether it is not set.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Whether it is not known before apply.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown)
    }

    /// Whether it is set to a known value.
    #[must_use]
    pub fn is_known(&self) -> bool {
        matches!(self, Self::Known(_))
    }

    /// The known value.
    #[must_use]
    pub fn known(&self) -> Option<&T> {
        match self {
            Self::Known(value) => Some(value),
            Self::Null | Self::Unknown => None,
        }
    }

    /// The known value, to be changed.
    pub fn known_mut(&mut self) -> Option<&mut T> {
        match self {
            Self::Known(value) => Some(value),
            Self::Null | Self::Unknown => None,
        }
    }

    /// The known value, taken.
    #[must_use]
    pub fn into_known(self) -> Option<T> {
        match self {
            Self::Known(value) => Some(value),
            Self::Null | Self::Unknown => None,
        }
    }

    /// The known value or `default`; unknown counts as not set.
    #[must_use]
    pub fn known_or(self, default: T) -> T {
        self.into_known().unwrap_or(default)
    }

    /// The known value or the type's default; unknown counts as not set.
    #[must_use]
    pub fn known_or_default(self) -> T
    where
        T: Default,
    {
        self.into_known().unwrap_or_default()
    }

    /// Changes a known value.
    #[must_use]
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Field<U> {
        match self {
            Self::Null => Field::Null,
            Self::Unknown => Field::Unknown,
            Self::Known(value) => Field::Known(change(value)),
        }
    }

    /// Looks into a known value; null and unknown stay what they are.
    #[must_use]
    pub fn and_then<U>(self, look: impl FnOnce(T) -> Field<U>) -> Field<U> {
        match self {
            Self::Null => Field::Null,
            Self::Unknown => Field::Unknown,
            Self::Known(value) => look(value),
        }
    }

    /// A field that borrows.
    #[must_use]
    pub fn as_ref(&self) -> Field<&T> {
        match self {
            Self::Null => Field::Null,
            Self::Unknown => Field::Unknown,
            Self::Known(value) => Field::Known(value),
        }
    }

    /// `Known(value)` for `Some(value)`, `Null` for `None`.
    #[must_use]
    pub fn from_option(value: Option<T>) -> Self {
        value.map_or(Self::Null, Self::Known)
    }

    /// `Some` of the option for null and known; `None` when unknown: "is it decided, and to what?"
    #[must_use]
    pub fn decided(&self) -> Option<Option<&T>> {
        match self {
            Self::Null => Some(None),
            Self::Unknown => None,
            Self::Known(value) => Some(Some(value)),
        }
    }
}

impl Field<String> {
    /// The known text.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        self.known().map(String::as_str)
    }
}

impl<T> From<T> for Field<T> {
    fn from(value: T) -> Self {
        Self::Known(value)
    }
}

impl<T> From<Option<T>> for Field<T> {
    fn from(value: Option<T>) -> Self {
        Self::from_option(value)
    }
}

impl From<&str> for Field<String> {
    fn from(text: &str) -> Self {
        Self::Known(text.to_owned())
    }
}
