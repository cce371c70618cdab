package main

import "context"

// sideBySide does n things on several workers and hands over, in order, what came of them. Once ctx has ended no more are
// begun; it returns when nothing is under way any more.
func sideBySide[T any](ctx context.Context, n, workers int, do func(int) T, take func(int, T)) {
	slots := make([]chan T, n)
	next := make(chan int, n)
	for i := range n {
		slots[i] = make(chan T, 1)
		next <- i
	}
	close(next)
	for range min(workers, n) {
		go func() {
			for i := range next {
				if ctx.Err() == nil {
					slots[i] <- do(i)
				}
				close(slots[i])
			}
		}()
	}
	for i, slot := range slots {
		if result, ok := <-slot; ok {
			take(i, result)
		}
	}
}
