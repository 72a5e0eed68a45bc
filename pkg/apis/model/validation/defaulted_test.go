// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/install"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// A box is validated with its defaults, but its errors are about the fields that the user wrote.
func TestErrorsAreAboutWhatIsWritten(t *testing.T) {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	ports := func(ports ...corev1.ServicePort) func(*modelv1.ModelBox) {
		return func(box *modelv1.ModelBox) { box.Spec.Ports = ports }
	}
	named := func(name, mainName string) func(*modelv1.ModelBox) {
		return func(box *modelv1.ModelBox) { box.Name, box.Spec.Name = name, mainName }
	}
	for _, row := range []struct {
		name  string
		write func(*modelv1.ModelBox)
		want  []string
	}{
		{"a bad name", named("Web", ""), []string{"Invalid value: metadata.name"}},
		{"no name", named("", ""), []string{"Required value: metadata.name"}},
		{"a bad name, and a bad name of the main container", named("Web", "Main"), []string{"Invalid value: metadata.name", "Invalid value: spec.name"}},
		{"a bad name of the main container", named("web", "Main"), []string{"Invalid value: spec.name"}},
		{"a port without a number", ports(corev1.ServicePort{}), []string{"Invalid value: spec.ports[0].port"}},
		{"a port above the last", ports(corev1.ServicePort{Port: 65536}), []string{"Invalid value: spec.ports[0].port"}},
		{"a bad port and another bad target port", ports(corev1.ServicePort{Port: 65536, TargetPort: intstr.FromInt32(65537)}),
			[]string{"Invalid value: spec.ports[0].port", "Invalid value: spec.ports[0].targetPort"}},
		{"a port twice", ports(corev1.ServicePort{Port: 80}, corev1.ServicePort{Port: 80}), []string{"Duplicate value: spec.ports[1]"}},
		{"a port twice, with names", ports(corev1.ServicePort{Name: "a", Port: 80}, corev1.ServicePort{Name: "a", Port: 80}),
			[]string{"Duplicate value: spec.ports[1].name", "Duplicate value: spec.ports[1]"}},
		{"a name that another port gets", ports(corev1.ServicePort{Name: "tcp-81", Port: 80}, corev1.ServicePort{Port: 81}), []string{"Duplicate value: spec.ports[1].name"}},
		{"a bad protocol", ports(corev1.ServicePort{Port: 80, Protocol: "a b"}, corev1.ServicePort{Port: 81}), []string{"Unsupported value: spec.ports[0].protocol"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			written, box := &modelv1.ModelBox{}, &model.ModelBox{}
			written.Namespace, written.Name, written.Spec.Image = "default", "web", "nginx:1.7.9"
			row.write(written)
			scheme.Default(written)
			if err := scheme.Convert(written, box, nil); err != nil {
				t.Fatal(err)
			}
			errs := ValidateModelBox(t.Context(), box)
			if got := typesAndFields(errs); !slices.Equal(got, row.want) {
				t.Errorf("got %q\nwant %q\nin full: %v", got, row.want, errs.ToAggregate())
			}
		})
	}
}
