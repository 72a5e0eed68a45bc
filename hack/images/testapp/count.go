// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"
)

// lastLines is the number of lines that the application writes when it gets SIGTERM.
const lastLines = 100

// count writes "line 1" and so on, one each interval, until there are as many as atMost says, or without it until it is stopped:
// then it writes a hundred more. At last it writes "end" with the number of the last line. Who reads the log can tell whether one is
// missing.
func count(out io.Writer, interval, atMost string) error {
	period, err := time.ParseDuration(interval)
	if err != nil {
		return fmt.Errorf("reading the interval: %w", err)
	}
	most := math.MaxInt
	if atMost != "" {
		if most, err = strconv.Atoi(atMost); err != nil {
			return fmt.Errorf("reading how many lines: %w", err)
		}
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	number, ticks := 0, ticker.C
	for ; number < most; number++ {
		select {
		case <-ticks:
		case <-stop:
			most = number + lastLines
			ticks = closed()
		}
		if _, err := fmt.Fprintf(out, "line %d\n", number+1); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(out, "end %d\n", number)
	return err
}

// closed returns a channel that never waits.
func closed() <-chan time.Time {
	c := make(chan time.Time)
	close(c)
	return c
}
