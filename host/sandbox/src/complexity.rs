//! Limits on the complexity of a component, checked before it is validated or compiled: nesting, and the number of items of each
//! kind. The cost of compiling grows faster than linearly in some of them.

use std::collections::BTreeMap;

use wasmparser::{
    BinaryReaderError, BlockType, FuncType, FunctionBody, Operator, Parser, Payload, TypeSectionReader,
};

use super::program::LoadError;

/// Maximum number of functions, types, imports and so on, nested modules and components included.
const MAX_ITEMS: u64 = 100_000;
/// Maximum number of modules and components within the component.
const MAX_PARTS: u64 = 1_000;
/// Maximum nesting of components.
const MAX_NESTING: u64 = 16;
/// Maximum size of one function, in bytes.
const MAX_FUNCTION_BYTES: u64 = 2 << 20;
/// Maximum number of local variables of one function.
const MAX_LOCALS: u64 = 10_000;
/// Maximum nesting of blocks in one function.
const MAX_BLOCKS: u64 = 10_000;
/// Maximum size of the data flow that `br_table`s and blocks of one function add: one for each edge to a target, for each value
/// that an edge carries, and for each result of a block after the first.
const MAX_FLOW: u64 = 1 << 16;

/// Refuses a component that exceeds a limit on complexity. Takes about as long as reading it.
///
/// # Errors
/// [`LoadError::TooMuch`] with the limit that is exceeded, or an error about the bytes.
pub fn check_complexity(component: &[u8]) -> Result<(), LoadError> {
    let mut complexity = Complexity::default();
    Parser::new(0).parse_all(component).try_for_each(|payload| complexity.payload(payload?))
}

impl From<BinaryReaderError> for LoadError {
    fn from(error: BinaryReaderError) -> Self {
        Self::Invalid(error.to_string())
    }
}

fn within(what: &'static str, count: u64, limit: u64) -> Result<(), LoadError> {
    if count > limit { Err(LoadError::TooMuch { what, limit }) } else { Ok(()) }
}

#[derive(Default)]
struct Complexity {
    totals: BTreeMap<&'static str, u64>,
    nesting: u64,
    module: Module,
}

/// State of the module that is being read; modules do not nest.
#[derive(Default)]
struct Module {
    types: Vec<FuncType>,
    functions: std::vec::IntoIter<u32>,
}

impl Complexity {
    #[expect(clippy::wildcard_enum_match_arm, reason = "what is left is one of a kind or grows nothing")]
    fn payload(&mut self, payload: Payload<'_>) -> Result<(), LoadError> {
        match payload {
            Payload::ModuleSection { .. } => {
                self.module = Module::default();
                self.part()
            }
            Payload::ComponentSection { .. } => self.part(),
            Payload::End(_) => {
                self.nesting = self.nesting.saturating_sub(1);
                Ok(())
            }
            Payload::TypeSection(section) => self.types(section),
            Payload::FunctionSection(section) => {
                self.add("functions", section.count())?;
                let functions: Result<Vec<_>, _> = section.into_iter().collect();
                self.module.functions = functions?.into_iter();
                Ok(())
            }
            Payload::CodeSectionEntry(body) => self.module.function(&body),
            Payload::ImportSection(section) => self.add("imports", section.count()),
            Payload::ComponentImportSection(section) => self.add("imports", section.count()),
            Payload::ExportSection(section) => self.add("exports", section.count()),
            Payload::ComponentExportSection(section) => self.add("exports", section.count()),
            Payload::TableSection(section) => self.add("tables", section.count()),
            Payload::MemorySection(section) => self.add("memories", section.count()),
            Payload::GlobalSection(section) => self.add("globals", section.count()),
            Payload::TagSection(section) => self.add("tags", section.count()),
            Payload::ElementSection(section) => self.add("element segments", section.count()),
            Payload::DataSection(section) => self.add("data segments", section.count()),
            Payload::CoreTypeSection(section) => self.add("types", section.count()),
            Payload::ComponentTypeSection(section) => self.add("types", section.count()),
            Payload::InstanceSection(section) => self.add("instances", section.count()),
            Payload::ComponentInstanceSection(section) => self.add("instances", section.count()),
            Payload::ComponentAliasSection(section) => self.add("aliases", section.count()),
            Payload::ComponentCanonicalSection(section) => self.add("canonical functions", section.count()),
            _ => Ok(()),
        }
    }

    fn add(&mut self, what: &'static str, count: u32) -> Result<(), LoadError> {
        let total = self.totals.entry(what).or_default();
        *total += u64::from(count);
        within(what, *total, MAX_ITEMS)
    }

    fn part(&mut self) -> Result<(), LoadError> {
        self.nesting += 1;
        within("levels of nested components", self.nesting, MAX_NESTING)?;
        let parts = self.totals.entry("parts").or_default();
        *parts += 1;
        within("nested modules and components", *parts, MAX_PARTS)
    }

    fn types(&mut self, section: TypeSectionReader<'_>) -> Result<(), LoadError> {
        self.add("types", section.count())?;
        let types: Result<Vec<_>, _> = section.into_iter_err_on_gc_types().collect();
        self.module.types = types?;
        Ok(())
    }
}

impl Module {
    fn function(&mut self, body: &FunctionBody<'_>) -> Result<(), LoadError> {
        within("bytes in one function", body.range().len() as u64, MAX_FUNCTION_BYTES)?;
        let mut locals = 0;
        for local in body.get_locals_reader()? {
            locals += u64::from(local?.0);
            within("local variables in one function", locals, MAX_LOCALS)?;
        }
        let own = self.functions.next().map_or(BlockType::Empty, BlockType::FuncType);
        let mut labels = Labels { carried: vec![self.carried(own, false)], flow: 0 };
        for operator in body.get_operators_reader()? {
            self.operator(&operator?, &mut labels)?;
        }
        Ok(())
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "of hundreds these few make or use labels")]
    fn operator(&self, operator: &Operator<'_>, labels: &mut Labels) -> Result<(), LoadError> {
        match operator {
            Operator::Block { blockty } | Operator::If { blockty } => {
                labels.enter(self.carried(*blockty, false))
            }
            Operator::Loop { blockty } => labels.enter(self.carried(*blockty, true)),
            Operator::TryTable { try_table } => labels.enter(self.carried(try_table.ty, false)),
            Operator::End => {
                labels.carried.pop();
                Ok(())
            }
            Operator::BrTable { targets } => labels.branch(targets.len(), targets.default()),
            _ => Ok(()),
        }
    }

    /// Returns the number of values that a jump to a block's label carries: the parameters of a loop, the results of any other
    /// block.
    fn carried(&self, block: BlockType, is_loop: bool) -> u64 {
        match block {
            BlockType::Empty => 0,
            BlockType::Type(_) => u64::from(!is_loop),
            BlockType::FuncType(index) => self.types.get(index as usize).map_or(0, |ty| {
                let values = if is_loop { ty.params() } else { ty.results() };
                values.len() as u64
            }),
        }
    }
}

/// Labels in scope at the current point of a function, innermost last.
struct Labels {
    carried: Vec<u64>,
    flow: u64,
}

impl Labels {
    fn enter(&mut self, carried: u64) -> Result<(), LoadError> {
        self.carried.push(carried);
        self.flow(carried.saturating_sub(1))?;
        within("nested blocks in one function", self.carried.len() as u64, MAX_BLOCKS)
    }

    /// All targets of a table carry as many values as the default one.
    fn branch(&mut self, targets: u32, default: u32) -> Result<(), LoadError> {
        let carried = self.carried.iter().nth_back(default as usize).copied().unwrap_or_default();
        self.flow((u64::from(targets) + 1) * (carried + 1))
    }

    fn flow(&mut self, more: u64) -> Result<(), LoadError> {
        self.flow += more;
        within("edges and values of `br_table` and blocks in one function", self.flow, MAX_FLOW)
    }
}
