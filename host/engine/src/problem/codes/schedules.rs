//! When workflows start by themselves (P06x).

super::entries! {
    SCHEDULE "P060" "Schedule that names no time",
        "A schedule has five fields: minute, hour, day of the month, month and weekday; or it is @yearly, @monthly, @weekly, @daily \
         or @hourly.",
        "schedule: \"0 25 * * *\"" => "schedule: \"0 3 * * *\"";
    NEVER "P061" "Schedule that never comes",
        "No month that it names has that day, or it ends before it comes for the first time.",
        "schedule: \"0 0 30 2 *\"" => "schedule: \"0 0 28 2 *\"";
    ZONE "P062" "Time zone that is none",
        "Time zones are those of the IANA's database, by their names: a region and a city, or UTC. Abbreviations such as CET mean \
         different things at different places and times.",
        "timezone: Europe/Munich" => "timezone: Europe/Berlin";
    INSTANT "P063" "Instant that is none",
        "An instant is a date, a time and how far that is from UTC, as RFC 3339 writes it.",
        "startAt: \"2026-11-20\"" => "startAt: \"2026-11-20T00:00:00Z\"";
}
