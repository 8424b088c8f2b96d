//! The body of `POST /charges`.

use serde::Deserialize;

use crate::problem::{CHARGE_INVALID, Problem};
use crate::simulation::Simulation;

/// A charge that somebody asks for.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub(crate) struct ChargeRequest {
    /// In the currency's smallest unit; above zero.
    pub(crate) amount: i64,
    /// Three letters.
    pub(crate) currency: String,
    /// Who pays; 1 to 255 bytes.
    pub(crate) customer: String,
    /// Trouble on purpose.
    pub(crate) simulate: Option<Simulation>,
}

impl ChargeRequest {
    /// Reads `body`, before anything is claimed: a request that is refused here leaves its key unused, and the client
    /// may correct it and send it again.
    ///
    /// # Errors
    /// A problem that says what is wrong.
    pub(crate) fn parse(body: &[u8]) -> Result<Self, Problem> {
        let request: Self =
            serde_json::from_slice(body).map_err(|error| Problem::new(&CHARGE_INVALID, error.to_string()))?;
        match request.fault() {
            Some(fault) => Err(Problem::new(&CHARGE_INVALID, fault)),
            None => Ok(request),
        }
    }

    fn fault(&self) -> Option<&'static str> {
        let Self { amount, currency, customer, simulate: _ } = self;
        if *amount <= 0 {
            return Some("`amount` is above zero, in the currency's smallest unit");
        }
        if currency.len() != 3 || !currency.bytes().all(|byte| byte.is_ascii_alphabetic()) {
            return Some("`currency` has three letters");
        }
        if customer.is_empty() || customer.len() > 255 || customer.contains(char::is_control) {
            return Some("`customer` has 1 to 255 bytes and no control characters");
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_charge_is_refused() {
        for body in [
            "",
            "{",
            "[]",
            "null",
            r#"{"amount":1000,"currency":"usd"}"#,
            r#"{"currency":"usd","customer":"cus_1"}"#,
            r#"{"amount":1000,"customer":"cus_1"}"#,
            r#"{"amount":0,"currency":"usd","customer":"cus_1"}"#,
            r#"{"amount":-5,"currency":"usd","customer":"cus_1"}"#,
            r#"{"amount":10.5,"currency":"usd","customer":"cus_1"}"#,
            r#"{"amount":"1000","currency":"usd","customer":"cus_1"}"#,
            r#"{"amount":9223372036854775808,"currency":"usd","customer":"cus_1"}"#,
            r#"{"amount":1000,"amount":1,"currency":"usd","customer":"cus_1"}"#,
            r#"{"amount":1000,"currency":"us","customer":"cus_1"}"#,
            r#"{"amount":1000,"currency":"usd","customer":""}"#,
            r#"{"amount":1000,"currency":"usd","customer":"cus_1"} x"#,
            r#"{"amount":1000,"currency":"usd","customer":"cus_1","simulate":{"then":"explode"}}"#,
            r#"{"amount":1000,"currency":"usd","customer":"cus_1","simulate":{"delay_ms":-1}}"#,
            r#"{"amount":1000,"currency":"usd","customer":"cus_1","simulate":{"delay":1}}"#,
        ] {
            assert!(ChargeRequest::parse(body.as_bytes()).is_err(), "{body}");
        }
    }

    #[test]
    fn trouble_is_optional_and_so_are_its_parts() {
        let plain = ChargeRequest::parse(br#"{"amount":1000,"currency":"usd","customer":"cus_1"}"#).unwrap();
        assert_eq!(plain.simulate, None);
        for trouble in ["{}", r#"{"delay_ms":5}"#, r#"{"then":"error"}"#, r#"{"delay_ms":5,"then":"panic"}"#]
        {
            let body =
                format!(r#"{{"amount":1000,"currency":"usd","customer":"cus_1","simulate":{trouble}}}"#);
            assert!(ChargeRequest::parse(body.as_bytes()).unwrap().simulate.is_some(), "{trouble}");
        }
    }
}
