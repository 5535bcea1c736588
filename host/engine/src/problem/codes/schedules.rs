//! When workflows start by themselves (P06x).

super::entries! {
    SCHEDULE "P060" "Schedule that names no time",
        "A schedule has five fields: minute, hour, day of the month, month and weekday; or it is @yearly, @monthly, @weekly, @daily \
         or @hourly.",
        "schedule: \"0 25 * * *\"" => "schedule: \"0 3 * * *\"";
}
