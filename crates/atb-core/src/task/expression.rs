//! Sizes as expressions over a task's dimensions: integers, names, `+`, `*` and parentheses.

/// A parsed expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expression(Node);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Node {
    Number(u64),
    Dim(usize),
    Sum(Vec<Node>),
    Product(Vec<Node>),
}

/// Why an expression was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExpressionError {
    /// A name that is no dimension.
    #[error("`{0}` is not a dimension of the task")]
    UnknownDim(String),
    /// Something that the grammar does not have.
    #[error("expected a number, a dimension, + * or parentheses")]
    Syntax,
    /// Nested too deeply.
    #[error("more than 16 levels of parentheses")]
    Depth,
}

impl Expression {
    /// Parses an expression over the named dimensions.
    pub fn parse(text: &str, dims: &[String]) -> Result<Self, ExpressionError> {
        let mut parser = Parser { rest: text.trim_start(), dims };
        let node = parser.sum(0)?;
        if parser.rest.is_empty() { Ok(Self(node)) } else { Err(ExpressionError::Syntax) }
    }

    /// The value for given dimensions; None on overflow or a missing dimension.
    pub fn value(&self, dims: &[u64]) -> Option<u64> {
        fn of(node: &Node, dims: &[u64]) -> Option<u64> {
            match node {
                Node::Number(number) => Some(*number),
                Node::Dim(at) => dims.get(*at).copied(),
                Node::Sum(nodes) => nodes.iter().try_fold(0_u64, |sum, node| sum.checked_add(of(node, dims)?)),
                Node::Product(nodes) => {
                    nodes.iter().try_fold(1_u64, |product, node| product.checked_mul(of(node, dims)?))
                }
            }
        }
        of(&self.0, dims)
    }

    /// True if the expression is exactly the dimension with this index.
    pub fn is_dim(&self, at: usize) -> bool {
        self.0 == Node::Dim(at)
    }
}

struct Parser<'t> {
    rest: &'t str,
    dims: &'t [String],
}

impl Parser<'_> {
    fn eat(&mut self, symbol: char) -> bool {
        let Some(rest) = self.rest.strip_prefix(symbol) else { return false };
        self.rest = rest.trim_start();
        true
    }

    fn sum(&mut self, depth: usize) -> Result<Node, ExpressionError> {
        let mut nodes = vec![self.product(depth)?];
        while self.eat('+') {
            nodes.push(self.product(depth)?);
        }
        Ok(if nodes.len() == 1 { nodes.swap_remove(0) } else { Node::Sum(nodes) })
    }

    fn product(&mut self, depth: usize) -> Result<Node, ExpressionError> {
        let mut nodes = vec![self.atom(depth)?];
        while self.eat('*') {
            nodes.push(self.atom(depth)?);
        }
        Ok(if nodes.len() == 1 { nodes.swap_remove(0) } else { Node::Product(nodes) })
    }

    fn atom(&mut self, depth: usize) -> Result<Node, ExpressionError> {
        if depth > 16 {
            return Err(ExpressionError::Depth);
        }
        if self.eat('(') {
            let node = self.sum(depth + 1)?;
            return if self.eat(')') { Ok(node) } else { Err(ExpressionError::Syntax) };
        }
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            return word.parse().map(Node::Number).map_err(|_| ExpressionError::Syntax);
        }
        if word.is_empty() {
            return Err(ExpressionError::Syntax);
        }
        match self.dims.iter().position(|dim| dim == word) {
            Some(at) => Ok(Node::Dim(at)),
            None => Err(ExpressionError::UnknownDim(word.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_faults() {
        let dims = ["rows".to_owned(), "cols".to_owned()];
        let value = |text: &str| Expression::parse(text, &dims).map(|e| e.value(&[3, 5]));
        assert_eq!(value("2 * cols"), Ok(Some(10)));
        assert_eq!(value("(rows + 1) * (cols+cols) + 7"), Ok(Some(47)));
        assert_eq!(value("18446744073709551615 * rows"), Ok(None));
        assert_eq!(value("2 *"), Err(ExpressionError::Syntax));
        assert_eq!(value("rows - 1"), Err(ExpressionError::Syntax));
        assert_eq!(value("heads"), Err(ExpressionError::UnknownDim("heads".into())));
        assert_eq!(value(&"(".repeat(40)), Err(ExpressionError::Depth));
    }
}
