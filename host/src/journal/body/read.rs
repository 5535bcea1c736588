//! Bytes as moments. Whatever was not written so is an error.

use std::sync::Arc;

use phasm_engine::{
    event::{
        AttemptEnd, Binding, Bindings, Event, Fence, InputValue, Outputs, PhaseChange, PhaseData, Reason,
        ScopeOpening, TaskId,
    },
    outcome::Output,
    phase::Phase,
    plan::SecretRef,
    time::Timestamp,
    usage::ResourceUsage,
    value::{Map, Number, Value},
};
use serde::{
    Deserialize,
    de::{DeserializeOwned, Error as _, IntoDeserializer, value::StrDeserializer},
};
use serde_json::Error;

use super::{Moment, kind, tag};

/// The moments of a body, without the byte that says its form.
pub(super) fn moments(entries: &[u8], time: Timestamp) -> Result<Vec<Moment>, Error> {
    let mut reader = Decoding { rest: entries, task: 0, texts: Vec::new(), values: Vec::new() };
    let mut moments = Vec::new();
    let (mut now, mut events) = (time, Vec::new());
    while let Some((&tag, rest)) = reader.rest.split_first() {
        reader.rest = rest;
        if tag == tag::MOMENT {
            let back = i64::try_from(reader.number()?).map_err(|_| impossible("time"))?;
            let past = Moment { time: now, events: Arc::new(std::mem::take(&mut events)) };
            moments.extend(Some(past).filter(|moment| !moment.events.is_empty()));
            now = Timestamp(time.0.saturating_sub(back));
        } else {
            events.push(reader.event(tag)?);
        }
    }
    moments.push(Moment { time: now, events: Arc::new(events) });
    Ok(moments)
}

/// Exactly one JSON value. Values nest as deep as documents and guests may nest them, and an event adds some levels of its own.
pub(in crate::journal) fn json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Error> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    reader.disable_recursion_limit();
    let read = T::deserialize(&mut reader)?;
    reader.end()?;
    Ok(read)
}

fn impossible(what: &str) -> Error {
    Error::custom(format_args!("there is no such {what}"))
}

struct Decoding<'b> {
    rest: &'b [u8],
    /// The task run that was spoken of last.
    task: u32,
    texts: Vec<Arc<str>>,
    values: Vec<Value>,
}

impl<'b> Decoding<'b> {
    fn byte(&mut self) -> Result<u8, Error> {
        let (&byte, rest) = self.rest.split_first().ok_or_else(|| Error::custom("it ends too early"))?;
        self.rest = rest;
        Ok(byte)
    }

    fn bytes(&mut self, length: u64) -> Result<&'b [u8], Error> {
        let length = usize::try_from(length).ok();
        let split = length.and_then(|length| self.rest.split_at_checked(length));
        let (bytes, rest) = split.ok_or_else(|| Error::custom("it ends too early"))?;
        self.rest = rest;
        Ok(bytes)
    }

    fn number(&mut self) -> Result<u64, Error> {
        let mut number = 0_u64;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.byte()?;
            let part = u64::from(byte & 0x7f);
            if part.leading_zeros() < shift {
                break;
            }
            number |= part << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(impossible("number"))
    }

    fn signed(&mut self) -> Result<i64, Error> {
        let number = self.number()?;
        Ok((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    fn small(&mut self) -> Result<u32, Error> {
        u32::try_from(self.number()?).map_err(|_| impossible("number"))
    }

    fn text(&mut self) -> Result<Arc<str>, Error> {
        let number = self.number()?;
        if number & 1 == 1 {
            let known = usize::try_from(number >> 1).ok().and_then(|known| self.texts.get(known));
            return known.cloned().ok_or_else(|| impossible("text"));
        }
        let text: Arc<str> = std::str::from_utf8(self.bytes(number >> 1)?).map_err(Error::custom)?.into();
        if !text.is_empty() {
            self.texts.push(Arc::clone(&text));
        }
        Ok(text)
    }

    fn task(&mut self) -> Result<TaskId, Error> {
        let task = i64::from(self.task).checked_add(self.signed()?).and_then(|task| u32::try_from(task).ok());
        self.task = task.ok_or_else(|| impossible("task run"))?;
        Ok(TaskId(self.task))
    }

    fn fence(&mut self) -> Result<Fence, Error> {
        Ok(Fence { task: self.task()?, attempt: self.small()?, dispatch: self.small()? })
    }

    fn event(&mut self, tag: u8) -> Result<Event, Error> {
        match tag {
            tag::JSON => {
                let length = self.number()?;
                json(self.bytes(length)?)
            }
            tag::PHASE | tag::REASON | tag::BOUND | tag::RESULT | tag::PARTIAL | tag::CLOSED => {
                self.phase_changed(tag).map(Event::Phase)
            }
            tag::STARTED => self.fence().map(Event::AttemptStarted),
            tag::ENDED | tag::METERED_END => self.attempt_ended(tag).map(Box::new).map(Event::AttemptEnded),
            tag::METERED => Ok(Event::Metered(self.fence()?, self.metered()?)),
            tag::OPENED | tag::LOOP => self.scope_opened(tag).map(Box::new).map(Event::ScopeOpened),
            tag::DONE | tag::FAILED => Ok(Event::TaskEnded(self.task()?, tag == tag::DONE)),
            _ => Err(impossible("event")),
        }
    }

    fn phase_changed(&mut self, tag: u8) -> Result<PhaseChange, Error> {
        let task = self.task()?;
        let phases = self.byte()?;
        let (from, to) = (phase(phases >> 4)?, phase(phases & 0xf)?);
        let reason = if matches!(tag, tag::REASON | tag::CLOSED) { Some(self.reason()?) } else { None };
        let with = match tag {
            tag::BOUND => Some(PhaseData::Bound { inputs: self.bindings()?, config: self.value()? }),
            tag::RESULT | tag::CLOSED => {
                Some(PhaseData::Result { message: self.text()?, outputs: self.outputs()? })
            }
            tag::PARTIAL => Some(PhaseData::Partial { message: self.text()?, outputs: self.outputs()? }),
            _ => None,
        };
        Ok(PhaseChange { task, from, to, reason, with: with.map(Box::new) })
    }

    fn reason(&mut self) -> Result<Reason, Error> {
        let text = self.text()?;
        let text: StrDeserializer<'_, Error> = text.as_ref().into_deserializer();
        Reason::deserialize(text)
    }

    fn scope_opened(&mut self, tag: u8) -> Result<ScopeOpening, Error> {
        let (task, inputs) = (self.task()?, self.bindings()?);
        let items = if tag == tag::LOOP { Some(Arc::new(self.values()?)) } else { None };
        Ok(ScopeOpening { task, inputs, items })
    }

    fn attempt_ended(&mut self, tag: u8) -> Result<AttemptEnd, Error> {
        let fence = self.fence()?;
        let phase = phase(self.byte()?)?;
        let code = i32::try_from(self.signed()?).map_err(|_| impossible("code"))?;
        let (message, outputs) = (self.text()?, self.outputs()?);
        let duration_ms = self.number()?.checked_sub(1);
        let metered = if tag == tag::METERED_END { self.metered()? } else { ResourceUsage::default() };
        Ok(AttemptEnd { fence, phase, code, message, outputs, duration_ms, condition: None, metered })
    }

    fn metered(&mut self) -> Result<ResourceUsage, Error> {
        Ok(ResourceUsage {
            cpu_us: self.number()?,
            pages: self.small()?,
            calls: self.small()?,
            bytes_in: self.number()?,
            bytes_out: self.number()?,
        })
    }

    fn outputs(&mut self) -> Result<Outputs, Error> {
        let count = self.number()?;
        let outputs = (0..count).map(|_| Ok(Output { name: self.text()?, value: self.value()? }));
        outputs.collect::<Result<_, Error>>().map(Arc::new)
    }

    fn bindings(&mut self) -> Result<Bindings, Error> {
        let count = self.number()?;
        let bindings = (0..count).map(|_| Ok(Binding { name: self.text()?, value: self.input()? }));
        bindings.collect::<Result<_, Error>>().map(Arc::new)
    }

    fn input(&mut self) -> Result<InputValue, Error> {
        match self.byte()? {
            kind::SECRET => {
                let (name, key) = (self.text()?, self.text()?);
                Ok(InputValue::SecretKeyRef(SecretRef { name, key }))
            }
            kind => self.value_of(kind).map(InputValue::Value),
        }
    }

    fn value(&mut self) -> Result<Value, Error> {
        let kind = self.byte()?;
        self.value_of(kind)
    }

    fn value_of(&mut self, kind: u8) -> Result<Value, Error> {
        Ok(match kind {
            kind::NULL => Value::Null,
            kind::FALSE => Value::Bool(false),
            kind::TRUE => Value::Bool(true),
            kind::INTEGER => Value::Number(self.signed()?.into()),
            kind::UNSIGNED => Value::Number(self.number()?.into()),
            kind::DOUBLE => Value::Number(self.double()?),
            kind::TEXT => Value::String(self.text()?),
            kind::KNOWN => {
                let known = usize::try_from(self.number()?).ok().and_then(|known| self.values.get(known));
                known.cloned().ok_or_else(|| impossible("value"))?
            }
            kind::ARRAY => {
                let count = self.number()?;
                let items: Vec<Value> = (0..count).map(|_| self.value()).collect::<Result<_, _>>()?;
                self.known(items.into(), count)
            }
            kind::OBJECT => {
                let count = self.number()?;
                let members = (0..count).map(|_| Ok((self.text()?, self.value()?)));
                let members: Map = members.collect::<Result<_, Error>>()?;
                self.known(members.into(), count)
            }
            _ => return Err(impossible("kind of value")),
        })
    }

    fn values(&mut self) -> Result<Vec<Value>, Error> {
        let count = self.number()?;
        (0..count).map(|_| self.value()).collect()
    }

    fn double(&mut self) -> Result<Number, Error> {
        let bytes = self.bytes(8)?.try_into().map_err(Error::custom)?;
        Number::from_f64(f64::from_le_bytes(bytes)).ok_or_else(|| impossible("number"))
    }

    fn known(&mut self, value: Value, count: u64) -> Value {
        if count > 0 {
            self.values.push(value.clone());
        }
        value
    }
}

fn phase(number: u8) -> Result<Phase, Error> {
    Phase::ALL.get(usize::from(number)).copied().ok_or_else(|| impossible("phase"))
}
