// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package linearizability

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

// Report has the violations in a history.
type Report struct {
	// Errors has the violations, empty for none.
	Errors []error
	// Undecided has the objects that could not be checked within the time.
	Undecided []Key
	// Illegal has the objects whose operations are not linearizable.
	Illegal []Picture
}

// Picture shows the operations of an object, and the longest linearizable prefix.
type Picture struct {
	Key  Key
	info porcupine.LinearizationInfo
}

// Write writes the picture as an HTML page.
func (p Picture) Write(to io.Writer) error { return porcupine.Visualize(model, p.info, to) }

// Check checks a history. timeout limits the time for the operations of each object.
func Check(history History, timeout time.Duration) Report {
	store := newStore(history.Changes)
	operations, errs := store.settle(history.Operations)
	history.Operations = operations
	errs = append(errs, checkRevisions(history)...)
	for _, list := range history.Lists {
		errs = append(errs, store.checkList(list)...)
	}
	for _, watch := range history.Watches {
		errs = append(errs, store.checkWatch(watch)...)
	}
	errs = append(errs, checkExpired(history)...)

	report := Report{Errors: errs}
	byKey := map[Key][]porcupine.Operation{}
	var keys []Key
	for _, operation := range operations {
		key := operation.Request.Key
		if byKey[key] == nil {
			keys = append(keys, key)
		}
		byKey[key] = append(byKey[key], porcupine.Operation{
			ClientId: operation.Client, Input: operation.Request, Output: operation.Response,
			Call: int64(operation.Call), Return: int64(operation.Return),
		})
	}
	for _, key := range keys {
		switch result, info := porcupine.CheckOperationsVerbose(model, byKey[key], timeout); result {
		case porcupine.Unknown:
			report.Undecided = append(report.Undecided, key)
		case porcupine.Illegal:
			report.Illegal = append(report.Illegal, Picture{key, info})
			report.Errors = append(report.Errors, fmt.Errorf("%s: no order of its %d operations explains the responses to clients", key, len(byKey[key])))
		default:
		}
	}
	return report
}

// never is the end time of a request that may still be served.
const never = time.Duration(math.MaxInt64)

// observation is the observation of a revision by a client.
type observation struct {
	revision int64
	at       time.Duration
	what     string
}

// checkRevisions checks that a write has a higher revision than all revisions that clients observed before the request, and that a
// list does not have a lower revision.
func checkRevisions(history History) []error {
	type demand struct {
		observation
		isWrite bool
	}
	var told []observation
	var demands []demand
	for _, operation := range history.Operations {
		what := fmt.Sprintf("client %d: %s: %s", operation.Client, operation.Request.Key, describe(operation.Request, operation.Response))
		revision := operation.Response.Object.Revision
		if operation.Response.Outcome != Done || revision == 0 {
			continue
		}
		told = append(told, observation{revision, operation.Return, what})
		if operation.Request.Verb != Get {
			demands = append(demands, demand{observation{revision, operation.Call, what}, true})
		}
	}
	for _, list := range history.Lists {
		what := fmt.Sprintf("client %d: list of %s", list.Client, list.Resource)
		told = append(told, observation{list.Revision, list.Return, what})
		demands = append(demands, demand{observation{list.Revision, list.Call, what}, false})
	}
	for _, watch := range history.Watches {
		for _, event := range watch.Events {
			told = append(told, observation{event.Object.Revision, event.Received,
				fmt.Sprintf("client %d: watch of %s: %s %s", watch.Client, watch.Resource, event.Type, event.Name)})
		}
	}
	slices.SortFunc(told, func(a, b observation) int { return cmp.Compare(a.at, b.at) })
	slices.SortFunc(demands, func(a, b demand) int { return cmp.Compare(a.at, b.at) })
	var errs []error
	latest := observation{}
	for _, demand := range demands {
		for len(told) > 0 && told[0].at < demand.at {
			if told[0].revision > latest.revision {
				latest = told[0]
			}
			told = told[1:]
		}
		if demand.revision < latest.revision || demand.isWrite && demand.revision == latest.revision {
			errs = append(errs, fmt.Errorf("%s: asked for at %s, and has revision %d, but %d was returned before, at %s, by %s",
				demand.what, demand.at, demand.revision, latest.revision, latest.at, latest.what))
		}
	}
	return errs
}

// checkExpired checks that a watch can resume from an observed revision, unless a server has started since the request that wrote the
// revision: a started server has no earlier events.
func checkExpired(history History) []error {
	var errs []error
	for _, expired := range history.Expired {
		requested := requestOf(expired.From, history.Operations)
		isExcused := func(outage Outage) bool { return requested <= outage.End && outage.Begin <= expired.Refused }
		if !slices.ContainsFunc(history.Outages, isExcused) {
			errs = append(errs, fmt.Errorf("a watch of %s from revision %d, which a client requested at %s, has expired at %s, and no server has ended meanwhile",
				expired.Resource, expired.From, requested, expired.Refused))
		}
	}
	return errs
}

// requestOf returns the time of the request that wrote the revision, or the last revision before it. It is 0 if there was none.
func requestOf(revision int64, operations []Operation) time.Duration {
	var latest Operation
	for _, operation := range operations {
		wrote := operation.Response.Object.Revision
		if operation.Response.Outcome == Done && operation.Request.Verb != Get && wrote <= revision && wrote > latest.Response.Object.Revision {
			latest = operation
		}
	}
	return latest.Call
}
