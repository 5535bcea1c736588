//! Random bytes. They give a guest no power over anything, so that every guest gets them; a seed needs a grant.

use rand::{
    Rng as _, SeedableRng,
    rngs::{SmallRng, StdRng},
};
use wasmtime::component::{HasSelf, Linker};
use wasmtime_wasi::p2::bindings::random::{insecure, insecure_seed, random};

use crate::limits::{Ceiling, Limit, LimitError};

/// Source of a guest's random bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Randomness {
    /// Generators of the call's own, seeded by the operating system; `wasi:random/random` is fit for keys.
    #[default]
    Fresh,
    /// This seed: every call gets the same bytes in one version of Phasm. For work that has to be repeated exactly, never for
    /// keys.
    Seeded(u64),
}

impl Randomness {
    fn generator<R: SeedableRng>(self) -> R {
        match self {
            Self::Fresh => R::from_rng(&mut rand::rng()),
            Self::Seeded(seed) => R::seed_from_u64(seed),
        }
    }
}

/// Generators of one call, made when they are first used: many guests never do.
pub(crate) struct Random {
    from: Randomness,
    /// Maximum number of bytes in one call.
    ceiling: Ceiling,
    secure: Option<Box<StdRng>>,
    insecure: Option<Box<SmallRng>>,
}

impl Random {
    pub(crate) fn new(from: Randomness, ceiling: Ceiling) -> Self {
        Self { from, ceiling, secure: None, insecure: None }
    }

    fn secure(&mut self) -> &mut StdRng {
        self.secure.get_or_insert_with(|| Box::new(self.from.generator()))
    }

    fn insecure(&mut self) -> &mut SmallRng {
        self.insecure.get_or_insert_with(|| Box::new(self.from.generator()))
    }

    /// Returns a buffer of `length` bytes.
    fn room(&self, length: u64) -> Result<Vec<u8>, LimitError> {
        let length = usize::try_from(length).ok().filter(|_| length <= self.ceiling.most);
        length.map(|length| vec![0; length]).ok_or(LimitError { limit: Limit::Random, ceiling: self.ceiling })
    }
}

/// State of a store that has generators.
pub(crate) trait HasRandom: Send + 'static {
    fn random(&mut self) -> &mut Random;
}

pub(super) fn link<T: HasRandom>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    random::add_to_linker::<T, HasSelf<Random>>(linker, T::random)?;
    insecure::add_to_linker::<T, HasSelf<Random>>(linker, T::random)?;
    insecure_seed::add_to_linker::<T, HasSelf<Random>>(linker, T::random)
}

impl random::Host for Random {
    fn get_random_bytes(&mut self, length: u64) -> wasmtime::Result<Vec<u8>> {
        let mut bytes = self.room(length)?;
        self.secure().fill_bytes(&mut bytes);
        Ok(bytes)
    }

    fn get_random_u64(&mut self) -> wasmtime::Result<u64> {
        Ok(self.secure().next_u64())
    }
}

impl insecure::Host for Random {
    fn get_insecure_random_bytes(&mut self, length: u64) -> wasmtime::Result<Vec<u8>> {
        let mut bytes = self.room(length)?;
        self.insecure().fill_bytes(&mut bytes);
        Ok(bytes)
    }

    fn get_insecure_random_u64(&mut self) -> wasmtime::Result<u64> {
        Ok(self.insecure().next_u64())
    }
}

impl insecure_seed::Host for Random {
    fn insecure_seed(&mut self) -> wasmtime::Result<(u64, u64)> {
        let insecure = self.insecure();
        Ok((insecure.next_u64(), insecure.next_u64()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::SetBy;

    const CEILING: Ceiling = Ceiling { most: 8, by: SetBy::Operator };

    #[test]
    fn a_seed_repeats_itself_and_nothing_else_does() {
        let numbers = |from| {
            let mut random = Random::new(from, CEILING);
            (random.secure().next_u64(), random.insecure().next_u64())
        };
        assert_eq!(numbers(Randomness::Seeded(7)), numbers(Randomness::Seeded(7)));
        assert_ne!(numbers(Randomness::Seeded(7)), numbers(Randomness::Seeded(8)));
        assert_ne!(numbers(Randomness::Fresh), numbers(Randomness::Fresh));
    }

    #[test]
    fn bytes_of_one_call_are_limited() {
        let random = Random::new(Randomness::Fresh, CEILING);
        assert_eq!(random.room(8).unwrap().len(), 8);
        for length in [9, u64::MAX] {
            assert_eq!(random.room(length), Err(LimitError { limit: Limit::Random, ceiling: CEILING }));
        }
    }
}
