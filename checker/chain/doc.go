// Package chain checks that timeouts nest although their values live in different files, formats and repositories. A chain file
// names each link: who owns the value, where it stands, in which unit, below which other link it must lie, by which margin, and
// why. Nothing is guessed: what the file does not name is not checked, and said so.
//
// A link that says which setting of a dispatcher it is takes part in the built-in rules as well, those that the dispatcher applies
// to its own settings (Rules). Open reads a chain and the values of its links; Check compares them.
package chain
