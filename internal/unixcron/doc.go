// Package unixcron reads the schedules of Cloud Scheduler and answers when they fire.
//
// The grammar is the unix-cron of Cloud Scheduler and nothing beyond it: five fields, minute 0-59, hour 0-23, day of month 1-31,
// month 1-12 or JAN-DEC, day of week 0-7 or SUN-SAT (0 and 7 are Sunday), each a comma list of *, */n, a, a-b or a-b/n. What other
// schedulers add (seconds, @daily, ?, L, W, #, TZ=) is refused with an [Error] that says where, why and what to write instead.
// So is groc, the older language of App Engine, whose intervals have no fixed grid.
//
// Days follow the rule of cron: with one day field restricted, that field decides; with both restricted, a day that either one
// names matches. A field is restricted unless one of its entries is * or */1.
//
// A schedule fires at every instant at which the wall clock of its time zone shows a matching minute, at second 0. A local time
// that a zone change skips does not fire; one that occurs twice fires twice. Schedules that could never fire, such as 30 February,
// are refused when they are parsed.
package unixcron
