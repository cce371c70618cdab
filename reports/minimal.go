package reports

import (
	"fmt"
	"os"
	"path/filepath"
)

// ShowMinimal writes the summary of a failed run's bundle anew: with the timeline of the minimal run that fails in the same way, and the
// command that runs the minimal scenario, whose file is named.
func ShowMinimal(failed, minimal *Run, file string) error {
	s := SummaryOf(failed)
	s.Case, s.Minimal = setScene(minimal).mermaid(), "squall run "+shellWord(file)
	f, err := os.Create(filepath.Join(failed.Bundle, SummaryFile))
	if err != nil {
		return fmt.Errorf("write the summary anew: %w", err)
	}
	err = WriteMarkdown(f, []Summary{s})
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}
