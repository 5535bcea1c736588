//! When workflows start by themselves (P06x).

super::entries! {
    SCHEDULE "P060" "Schedule that names no time",
        "A schedule has five fields: minute, hour, day of the month, month and weekday; or it is @yearly, @monthly, @weekly, @daily \
         or @hourly.",
        "schedule: \"0 25 * * *\"" => "schedule: \"0 3 * * *\"";
    NEVER "P061" "Schedule that never runs",
        "No month that it names has that day, or it ends before its first run.",
        "schedule: \"0 0 30 2 *\"" => "schedule: \"0 0 28 2 *\"";
    ZONE "P062" "Unknown time zone",
        "Time zones have the names of the IANA database: a region and a city, or UTC. Abbreviations such as CET mean \
         different things at different places and times.",
        "timezone: Europe/Munich" => "timezone: Europe/Berlin";
    INSTANT "P063" "Invalid time",
        "A time has a date, a time of day and an offset from UTC, as RFC 3339 writes it.",
        "startAt: \"2026-11-20\"" => "startAt: \"2026-11-20T00:00:00Z\"";
}
