//! The public copies in `.claude/context/`, in the formats of other tools.
