// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

func TestRollout(t *testing.T) {
	check(t, []row{
		{"no replicas stop a box", func(box *model.ModelBox) { box.Spec.Replicas = ptr.To[int32](0) }, nil},
		{"replicas are not negative", func(box *model.ModelBox) { box.Spec.Replicas = ptr.To[int32](-1) },
			[]string{"Invalid value: spec.replicas"}},

		{"a rolling update of 1% is accepted", rollingUpdate(intstr.FromString("1%")), nil},
		{"a rolling update of 100% is accepted", rollingUpdate(intstr.FromString("100%")), nil},
		{"a rolling update of one pod is accepted", rollingUpdate(intstr.FromInt32(1)), nil},
		{"a rolling update of more pods than there are is accepted", rollingUpdate(intstr.FromInt32(1000)), nil},
		{"a rolling update of 0% moves nothing", rollingUpdate(intstr.FromString("0%")), []string{"Invalid value: spec.rollingUpdate"}},
		{"a rolling update of no pod moves nothing", rollingUpdate(intstr.FromInt32(0)), []string{"Invalid value: spec.rollingUpdate"}},
		{"a rolling update of 101% is refused", rollingUpdate(intstr.FromString("101%")), []string{"Invalid value: spec.rollingUpdate"}},
		{"a rolling update of abc is refused", rollingUpdate(intstr.FromString("abc")), []string{"Invalid value: spec.rollingUpdate"}},
		{"a rolling update of -1 is refused", rollingUpdate(intstr.FromInt32(-1)), []string{"Invalid value: spec.rollingUpdate"}},
		{"a rolling update of -1% is refused", rollingUpdate(intstr.FromString("-1%")), []string{"Invalid value: spec.rollingUpdate"}},
		{"a rolling update of half a percent is refused", rollingUpdate(intstr.FromString("0.5%")), []string{"Invalid value: spec.rollingUpdate"}},
		{"a rolling update of a quoted number is refused", rollingUpdate(intstr.FromString("2")), []string{"Invalid value: spec.rollingUpdate"}},
		{"a rolling update of a percentage beyond any number is refused", rollingUpdate(intstr.FromString("99999999999999999999%")),
			[]string{"Invalid value: spec.rollingUpdate"}},

		{"no minimum of ready seconds is accepted", minReadySeconds(0), nil},
		{"599 ready seconds are accepted", minReadySeconds(599), nil},
		{"600 ready seconds reach the progress deadline", minReadySeconds(600), []string{"Invalid value: spec.minReadySeconds"}},
		{"ready seconds are not negative", minReadySeconds(-1), []string{"Invalid value: spec.minReadySeconds"}},
	})
}

func rollingUpdate(value intstr.IntOrString) func(*model.ModelBox) {
	return func(box *model.ModelBox) { box.Spec.RollingUpdate = &value }
}

func minReadySeconds(seconds int32) func(*model.ModelBox) {
	return func(box *model.ModelBox) { box.Spec.MinReadySeconds = &seconds }
}
