// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/cli-runtime/pkg/printers"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/cliutil"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

const (
	none = "<none>"
	// maxPaths is how many fields of a revision are in its row.
	maxPaths = 3
)

// printHistory prints all revisions, as "kubectl rollout history" does.
func printHistory(out io.Writer, history *modelv1.ModelBoxHistory) error {
	fmt.Fprintf(out, "modelbox.%s/%s\n", modelv1.GroupName, history.Name)
	w := printers.GetNewTabWriter(out)
	// Most boxes have no revision that has failed.
	hasFailed := slices.ContainsFunc(history.Revisions, func(r modelv1.ModelBoxRevision) bool { return r.Failure != "" })
	columns := []string{"REVISION", "AGE", "IMAGES", "CHANGED", "CHANGED-BY", "CHANGE-CAUSE"}
	if hasFailed {
		columns = append(columns, "FAILURE")
	}
	fmt.Fprintln(w, strings.Join(columns, "\t"))
	for i := range history.Revisions {
		r := &history.Revisions[i]
		row := []string{
			strconv.FormatInt(r.Revision, 10),
			duration.HumanDuration(time.Since(r.CreationTimestamp.Time)),
			cmp.Or(strings.Join(r.Images, ","), none),
			changed(r),
			cmp.Or(cliutil.OneLine(r.ChangedBy), none),
			cmp.Or(cliutil.OneLine(r.ChangeCause), none),
		}
		if hasFailed {
			row = append(row, cmp.Or(cliutil.OneLine(r.Failure), none))
		}
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	return w.Flush()
}

// changed returns the paths of the first few fields that a revision has changed, and how many more there are, or why they are not
// known.
func changed(r *modelv1.ModelBoxRevision) string {
	if r.Unknown != "" {
		return "<unknown>: " + cliutil.OneLine(r.Unknown)
	}
	var paths []string
	for _, change := range r.Changes {
		paths = append(paths, cmp.Or(changedReferences(&change), strings.TrimPrefix(change.Path, "spec.")))
	}
	if more := len(paths) - maxPaths; more > 0 {
		paths = append(paths[:maxPaths], fmt.Sprintf("and %d more", more))
	}
	return cmp.Or(strings.Join(paths, ", "), none)
}

// changedReferences returns the ConfigMaps and Secrets, and their keys, whose changes restarted the pods. It returns "" for any other
// change.
func changedReferences(change *modelv1.ModelBoxFieldChange) string {
	if change.Path != "spec.podTemplate.metadata.annotations["+modelv1.ReferencesAnnotation+"]" {
		return ""
	}
	var before, after string
	if json.Unmarshal([]byte(change.Before), &before) != nil || json.Unmarshal([]byte(change.After), &after) != nil {
		return ""
	}
	return modelboxrender.DescribeReferenceChanges(modelboxrender.ReadReferences(before), modelboxrender.ReadReferences(after))
}

// printRevision prints all of one revision.
func printRevision(out io.Writer, history *modelv1.ModelBoxHistory, number int64) error {
	i := slices.IndexFunc(history.Revisions, func(r modelv1.ModelBoxRevision) bool { return r.Revision == number })
	if i < 0 {
		return fmt.Errorf("unable to find the specified revision %d of %s", number, history.Name)
	}
	r := &history.Revisions[i]
	fmt.Fprintf(out, "modelbox.%s/%s with revision #%d\n", modelv1.GroupName, history.Name, number)
	w := printers.GetNewTabWriter(out)
	fmt.Fprintf(w, "Name:\t%s\n", r.Name)
	fmt.Fprintf(w, "Created:\t%s\n", r.CreationTimestamp.UTC().Format(time.RFC3339))
	fmt.Fprintf(w, "Images:\t%s\n", cmp.Or(strings.Join(r.Images, ","), none))
	if r.Failure != "" {
		fmt.Fprintf(w, "Failure:\t%s\n", cliutil.OneLine(r.Failure))
	}
	fmt.Fprintf(w, "Changed by:\t%s\n", cmp.Or(cliutil.OneLine(r.ChangedBy), none))
	fmt.Fprintf(w, "Change cause:\t%s\n", cmp.Or(cliutil.OneLine(r.ChangeCause), none))
	if r.Unknown != "" {
		fmt.Fprintf(w, "Spec:\t<unknown>: %s\n", cliutil.OneLine(r.Unknown))
	} else {
		fmt.Fprintf(w, "Generation:\t%d\n", r.Generation)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if len(r.Changes) == 0 {
		return nil
	}
	fmt.Fprintln(out, "Changes:")
	for _, change := range r.Changes {
		fmt.Fprintf(out, "  %s: %s -> %s\n", change.Path, cmp.Or(withoutNull(change.Before), none), cmp.Or(withoutNull(change.After), none))
	}
	return nil
}
