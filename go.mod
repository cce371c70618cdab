module github.com/squall-chaos/squall

go 1.26.0
