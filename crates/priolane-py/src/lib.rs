//! The Python module of priolane.
