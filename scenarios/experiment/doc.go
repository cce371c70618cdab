// Package experiment compares settings by running each of them under the same seeds.
//
// A cell is one setting to be compared; a block is one scenario under one seed. Every cell meets every block, and within a block every
// cell meets the same tasks, the same lengths of work and the same plan of faults, which is drawn once, for the scenario's own
// settings (common random numbers). What differs between two cells of a block is therefore the settings' doing, and comparisons are
// made within blocks: paired.
//
// A run is reduced to an Observation, which holds whole numbers only. Everything else is computed from observations in order of
// blocks, so that it does not matter how many workers, processes or machines they come from: merged shards give the result of one
// machine, bit for bit.
package experiment
