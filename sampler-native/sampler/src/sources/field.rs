//! Fields of tracepoints.

use anyhow::{Result, bail};
use flametop_events::Field;
use flametop_kernel::events as kernel;

/// A field as the kernel side takes it.
pub fn field_of(field: &Field) -> Result<kernel::Field> {
    let kind = match field.kind.as_str() {
        kind if kind.starts_with("__data_loc") && kind.contains("char") => {
            kernel::FieldKind::Dynamic
        }
        kind if kind.contains("char[") => kernel::FieldKind::Text,
        _ if !field.is_number() => bail!(
            "the field {} cannot be compared: it is {}",
            field.name,
            field.kind
        ),
        _ if field.signed => kernel::FieldKind::Signed,
        _ => kernel::FieldKind::Unsigned,
    };
    let bytes = match kind {
        kernel::FieldKind::Text | kernel::FieldKind::Dynamic => 1,
        _ => field.size.try_into()?,
    };
    Ok(kernel::Field {
        offset: field.offset.try_into()?,
        bytes,
        kind,
    })
}
