// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"cmp"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children/fields"
)

// pause is a field of a workload by which somebody keeps rollouts from getting further. A box does not decide it: whoever
// sets it is left to it, and told about.
type pause struct {
	path fieldpath.Path
	// reason is that of a rollout which waits for the end of the pause.
	reason string
	// message says, after the name of who has set the field, what that does and what ends it.
	message string
	// stopsRollout says that a rollout is going on, and does not get further.
	stopsRollout bool
}

// messageOf says who has paused the workload, and what ends that.
func (p *pause) messageOf(workload workload) string {
	who := "somebody"
	for manager := range fields.ChangedBy(workload, fieldpath.NewSet(p.path), fieldpath.NewSet()) {
		who = cmp.Or(manager, who)
	}
	return fmt.Sprintf("%s %s", who, p.message)
}

// pausersOf returns the managed fields of those who have paused a workload: all that is read of them in a cache beside
// the fingerprint of our own. There are none for a child that is not paused.
func pausersOf(object children.Object) []metav1.ManagedFieldsEntry {
	workload := asWorkload(object)
	if workload == nil {
		return nil
	}
	pause := workload.pause()
	if pause == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(workload.GetManagedFields()), func(entry metav1.ManagedFieldsEntry) bool {
		if fields.IsOurs(&entry) || entry.FieldsV1 == nil {
			return true
		}
		managed, err := fields.Decode(&entry)
		return err != nil || !managed.Has(pause.path)
	})
}
