//! What is searched.

mod lexical;
