// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"testing"

	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

func TestResize(t *testing.T) {
	resize := func(mode model.ResizeMode, timeout *int32) func(*model.ModelBox) {
		return func(box *model.ModelBox) {
			box.Spec.Resize = &model.ModelBoxResize{Mode: mode, TimeoutSeconds: timeout}
		}
	}
	check(t, []row{
		{"in place or restart", resize(model.ResizeInPlaceOrRestart, nil), nil},
		{"in place or restart after a second", resize(model.ResizeInPlaceOrRestart, ptr.To[int32](1)), nil},
		{"in place only", resize(model.ResizeInPlaceOnly, nil), nil},
		{"restart", resize(model.ResizeRestart, nil), nil},
		{"no mode", resize("", nil), []string{"Required value: spec.resize.mode"}},
		{"an unknown mode", resize("InPlace", nil), []string{"Unsupported value: spec.resize.mode"}},
		{"no time", resize(model.ResizeInPlaceOrRestart, ptr.To[int32](0)), []string{"Invalid value: spec.resize.timeoutSeconds"}},
		{"a timeout that nothing follows", resize(model.ResizeInPlaceOnly, ptr.To[int32](60)), []string{"Forbidden: spec.resize.timeoutSeconds"}},
		{"a StatefulSet in place", all(workload(model.WorkloadStatefulSet), resize(model.ResizeInPlaceOnly, nil)), nil},
		{"a DaemonSet in place", all(workload(model.WorkloadDaemonSet), resize(model.ResizeInPlaceOrRestart, nil)), nil},
	})
}
