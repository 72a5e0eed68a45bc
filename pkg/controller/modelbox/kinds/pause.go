// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package kinds

import (
	"cmp"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply/fields"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
)

// pause is a field of a workload with which a user keeps rollouts from getting further. A box does not decide about the field: it
// leaves it to its manager, and reports the manager.
type pause struct {
	path fieldpath.Path
	// Reason is the reason of a rollout that waits for the end of the pause.
	Reason string
	// message follows the name of the manager of the field. It says what the manager did and what ends the pause.
	message string
	// StopsRollout says that a rollout has begun and does not get further.
	StopsRollout bool
}

// MessageOf says which manager has paused the workload, and what ends the pause.
func (p *pause) MessageOf(workload Workload) string {
	who := "another client"
	for manager := range fields.ChangedBy(workload, fieldpath.NewSet(p.path), fieldpath.NewSet()) {
		who = cmp.Or(manager, who)
	}
	return fmt.Sprintf("%s %s", who, p.message)
}

// pausersOf returns the managed fields of the managers that have paused a workload. A cache reads no other managed fields, except
// for the fingerprint of our own. There are none for a child that is not paused.
func pausersOf(object children.Object) []metav1.ManagedFieldsEntry {
	workload := AsWorkload(object)
	if workload == nil {
		return nil
	}
	pause := workload.Pause()
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
