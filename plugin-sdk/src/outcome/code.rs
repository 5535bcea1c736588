//! The integer that an executor returns.

/// The executor's word on how it went. The engine alone maps it to a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExecCode {
    /// 0: done.
    Succeeded,
    /// 1: waits for a resume; the outputs so far are kept.
    Suspended,
    /// 2: the answer is no, and would be no again. Not retried by default.
    Failed,
    /// 3: misuse or a fault.
    Error,
    /// 4: took too long.
    Timeout,
    /// Any other number: counts as an error and is kept for `phaseConditions`.
    Other(i32),
}

impl From<i32> for ExecCode {
    fn from(code: i32) -> Self {
        match code {
            0 => Self::Succeeded,
            1 => Self::Suspended,
            2 => Self::Failed,
            3 => Self::Error,
            4 => Self::Timeout,
            other => Self::Other(other),
        }
    }
}

impl From<ExecCode> for i32 {
    fn from(code: ExecCode) -> Self {
        match code {
            ExecCode::Succeeded => 0,
            ExecCode::Suspended => 1,
            ExecCode::Failed => 2,
            ExecCode::Error => 3,
            ExecCode::Timeout => 4,
            ExecCode::Other(other) => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_convert_both_ways() {
        for code in [i32::MIN, -1, 0, 1, 2, 3, 4, 5, i32::MAX] {
            assert_eq!(i32::from(ExecCode::from(code)), code);
        }
        assert_eq!(ExecCode::from(4), ExecCode::Timeout);
        assert_eq!(ExecCode::from(5), ExecCode::Other(5));
    }
}
