//! Phasm over HTTP: an API, and a page for people.
