//! What a project remembers about promotions.
