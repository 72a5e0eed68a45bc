// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"fmt"
	"io"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/cli-runtime/pkg/printers"
)

// status says what a finding means.
type status string

const (
	// statusOK is as it should be.
	statusOK status = "OK"
	// statusWarning works, and should not stay as it is.
	statusWarning status = "Warning"
	// statusFailed does not work.
	statusFailed status = "Failed"
	// statusUnknown could not be found out, mostly because the user may not.
	statusUnknown status = "Unknown"
)

// finding is what one check has found.
type finding struct {
	status  status
	check   string
	message string
}

type findings []finding

func fine(check, format string, args ...any) finding {
	return finding{statusOK, check, fmt.Sprintf(format, args...)}
}

func warning(check, format string, args ...any) finding {
	return finding{statusWarning, check, fmt.Sprintf(format, args...)}
}

func failed(check, format string, args ...any) finding {
	return finding{statusFailed, check, fmt.Sprintf(format, args...)}
}

// unanswered is a question that the cluster has not answered: because it may not, or because that does not work.
func unanswered(check string, err error) finding {
	if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) {
		return finding{statusUnknown, check, err.Error()}
	}
	return failed(check, "%v", err)
}

func (f findings) hasFailed() bool {
	return slices.ContainsFunc(f, func(finding finding) bool { return finding.status == statusFailed })
}

// print prints a table.
func (f findings) print(out io.Writer) error {
	w := printers.GetNewTabWriter(out)
	fmt.Fprintln(w, "STATUS\tCHECK\tMESSAGE")
	for _, finding := range f {
		fmt.Fprintf(w, "%s\t%s\t%s\n", finding.status, finding.check, finding.message)
	}
	return w.Flush()
}

// The share of its lifetime that a certificate has left before it is renewed is a third.
const renewalShare = 3

// certificateFinding is about a certificate that is valid between two times.
func certificateFinding(check, what string, from, until, now time.Time) finding {
	left := until.Sub(now)
	switch {
	case left <= 0:
		return failed(check, "%s expired %s ago", what, duration.HumanDuration(-left))
	case now.Before(from):
		return failed(check, "%s is not valid before %s", what, from.UTC().Format(time.RFC3339))
	case left < until.Sub(from)/(2*renewalShare):
		return warning(check, "%s expires in %s and was not renewed in time", what, duration.HumanDuration(left))
	}
	return fine(check, "%s expires in %s", what, duration.HumanDuration(left))
}
