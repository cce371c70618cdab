package throwaway

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// Shared is the URL of the server that all tests of a package use: that of DATABASE_URL, whose user must be allowed to create schemas, or
// one that it starts. Without either it says what is left out and returns an empty URL; with CI set that is an error. stop ends what it
// started.
func Shared(ctx context.Context, what string) (url string, stop func(), err error) {
	if url = os.Getenv("DATABASE_URL"); url != "" {
		return url, func() {}, nil
	}
	own, err := Start(ctx, Options{})
	switch {
	case errors.Is(err, ErrNoBinaries) && os.Getenv("CI") == "":
		fmt.Printf("left out: %s: %v\n", what, err) // make test says so again at its end
		return "", func() {}, nil
	case err != nil:
		return "", nil, fmt.Errorf("the tests need a Postgres server; set DATABASE_URL or let them start one: %w", err)
	}
	return own.URL("postgres"), func() { _ = own.Stop() }, nil
}

// Own runs the tests of a package, which get a server that they may break: whatever DATABASE_URL says, they start one. Without binaries
// they are left out, which is said; with CI set that is a failure.
func Own(server **Server, tests interface{ Run() int }) int {
	own, err := Start(context.Background(), Options{})
	if errors.Is(err, ErrNoBinaries) && os.Getenv("CI") == "" {
		fmt.Println("left out:", err) // make test says so again at its end
		return 0
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = own.Stop() }()
	*server = own
	return tests.Run()
}
