// Package dispatchertest says what an adapter of package dispatcher must do, as conformance suites that the
// models of the simulation and the real systems pass alike: a model is only as honest as its test.
//
// ExerciseStore, ExerciseWorkloads and ExerciseLeases each run named cases. DiffStores runs one random
// sequence of operations on two stores and compares every answer.
//
// No suite needs concurrency, a wall clock or a particular way of making time pass; ExerciseConcurrentClaims
// is for stores that may be called from several goroutines.
package dispatchertest
