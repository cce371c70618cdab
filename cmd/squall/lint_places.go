package main

import (
	"context"

	"github.com/squall-chaos/squall/checker/chain"
	"github.com/squall-chaos/squall/reports"
)

// chainPlaces are where the values of a chain stand and who owns them, by the setting that each is.
func chainPlaces(ctx context.Context, file string) (map[string]reports.Place, error) {
	if file == "" {
		return nil, nil
	}
	opened, err := chain.Open(ctx, file, chain.Options{})
	if err != nil {
		return nil, lintError(ctx, err)
	}
	places := map[string]reports.Place{}
	for _, l := range opened.Links {
		if l.Setting != "" {
			places[l.Setting] = reports.Place{At: l.Values[0].Place.String(), Owner: l.Owner}
		}
	}
	return places, nil
}
