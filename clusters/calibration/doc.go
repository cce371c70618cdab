// Package calibration makes distributions out of what a cluster was seen to do: samples from dumps of its objects (package
// dumps) or from the record of a run, a fitted family or the measured percentiles, and how far to trust them.
//
// Three things are known of such data, and none is papered over. Kubernetes stamps in whole seconds, so most durations are
// known to within a second: the likelihood, the test and the curves take the rounding into account. Much of what is seen has not
// ended, or was stopped by somebody: such a sample says only "at least this long" (Kaplan and Meier's estimator, and the
// censored likelihood). And there may be too little of it: then nothing is written.
//
// The family is the one with the least AICc among exponential, lognormal, Weibull and uniform. It is taken if a parametric
// bootstrap of the Kolmogorov-Smirnov distance finds nothing unusual (p >= 0.05; or the distance is below 0.03, which no
// simulation could tell), and as many samples lie beyond its 99th percentile as chance would put there: timeouts are made for tails.
// Otherwise the percentiles are taken as they were measured.
//
// Everything is deterministic: the bootstrap draws from a fixed seed.
package calibration
