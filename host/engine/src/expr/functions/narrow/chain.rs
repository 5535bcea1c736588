//! Members, indexes and methods, one behind the other; and assignments to them.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "Rhai has more than functions may use, and will have more yet"
)]

use rhai::{Expr, FnCallExpr, OpAssignment, Position, Stmt};

use super::{Narrower, custom, ends, text};

/// One link of a chain.
pub(super) enum Link {
    Member(Expr),
    Index(Expr),
    Method(Box<FnCallExpr>),
}

impl Narrower<'_> {
    /// A chain that is read.
    pub(super) fn chain(&mut self, expression: &mut Expr) {
        let Some((mut root, mut links)) = links(expression) else { return };
        if let Some((Link::Method(method), _)) = links.last()
            && method.name == "push"
            && method.args.len() == 1
        {
            let (Some((Link::Method(method), at)), keys) = (links.pop(), links) else { return };
            self.expression(&mut root);
            let item = self.each(method.args.iter().cloned());
            *expression = self.changed("push", &root, keys, item, at);
            return;
        }
        self.expression(&mut root);
        for (link, at) in links {
            root = match link {
                Link::Member(name) => custom("member", vec![root, name], at),
                Link::Index(mut index) => {
                    self.expression(&mut index);
                    custom("at", vec![root, index], at)
                }
                Link::Method(method) => self.method(root, &method, at),
            };
        }
        *expression = root;
    }

    /// `x.push(item)` or `x.y = value`, whose right side is an operation already: the operation on the variable that the
    /// chain begins with.
    fn changed(
        &mut self,
        operation: &str,
        root: &Expr,
        keys: Vec<(Link, Position)>,
        value: Vec<Expr>,
        at: Position,
    ) -> Expr {
        let Expr::Variable(variable, ..) = root else {
            self.refuse(
                at,
                "only the value of a variable can be changed",
                "give it a name first: `let x = …`",
            );
            return Expr::default();
        };
        let mut operands = vec![text(&variable.1, at)];
        for (link, at) in keys {
            match link {
                Link::Member(key) => operands.push(key),
                Link::Index(mut index) => {
                    self.expression(&mut index);
                    operands.push(index);
                }
                Link::Method(_) => {
                    self.refuse(at, "a call cannot be changed", "give it a name first: `let x = …`");
                }
            }
        }
        operands.extend(value);
        custom(operation, operands, at)
    }

    pub(super) fn assignment(&mut self, statement: &mut Stmt) {
        let Stmt::Assignment(assignment) = statement else { return };
        let (operation, sides) = &mut **assignment;
        if let Some((_, _, _, _, _, operator)) = operation.get_op_assignment_info() {
            // `x += y` is `x = x + y`.
            let at = operation.position();
            let (left, right) = (sides.lhs.clone(), std::mem::take(&mut sides.rhs));
            sides.rhs = self.operator(operator, vec![left, right], at);
            *operation = OpAssignment::new_assignment(at);
        } else {
            self.expression(&mut sides.rhs);
        }
        let Some((mut root, keys)) = links(&sides.lhs) else {
            self.expression(&mut sides.lhs);
            return;
        };
        self.expression(&mut root);
        let at = sides.lhs.start_position();
        let value = vec![std::mem::take(&mut sides.rhs)];
        *statement = Stmt::Expr(Box::new(self.changed("put", &root, keys, value, at)));
    }
}

/// Splits a chain into its first expression and its links; `None` where the expression is no chain.
fn links(expression: &Expr) -> Option<(Expr, Vec<(Link, Position)>)> {
    let (Expr::Dot(first, ..) | Expr::Index(first, ..)) = expression else { return None };
    let mut links = Vec::new();
    let mut node = expression;
    loop {
        let (sides, flags, at, is_index) = match node {
            Expr::Dot(sides, flags, at) => (sides, *flags, *at, false),
            Expr::Index(sides, flags, at) => (sides, *flags, *at, true),
            _ => return None,
        };
        let goes_on = match &sides.rhs {
            Expr::Dot(..) | Expr::Index(..) => !ends(flags),
            _ => false,
        };
        let link = match &sides.rhs {
            Expr::Dot(next, ..) | Expr::Index(next, ..) if goes_on => &next.lhs,
            last => last,
        };
        links.push((
            link_of(link, is_index),
            if link.start_position().is_none() { at } else { link.start_position() },
        ));
        if !goes_on {
            return Some((first.lhs.clone(), links));
        }
        node = &sides.rhs;
    }
}

fn link_of(link: &Expr, is_index: bool) -> Link {
    match link {
        Expr::Property(property, at) if !is_index => Link::Member(text(&property.2, *at)),
        Expr::MethodCall(method, _) if !is_index => Link::Method(method.clone()),
        other => Link::Index(other.clone()),
    }
}
