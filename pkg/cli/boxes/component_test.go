// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package boxes

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func TestPodsArgument(t *testing.T) {
	for argument, want := range map[string]string{"web": "modelboxes/web", "mb/web": "mb/web", "mst": "modelboxes/mst"} {
		if got, err := PodsArgument(t.Context(), nil, argument); got != want || err != nil {
			t.Errorf("%s is %q, %v, want %q", argument, got, err, want)
		}
	}
	if _, err := PodsArgument(t.Context(), nil, "mst/shop"); err == nil || !strings.Contains(err.Error(), "mst/shop is a stack: specify a component as mst/shop/COMPONENT") {
		t.Errorf("a stack without a component: %v", err)
	}
}

func TestComponentBox(t *testing.T) {
	stack := &modelv1.ModelStack{ObjectMeta: metav1.ObjectMeta{Name: "shop"}, Spec: modelv1.ModelStackSpec{Components: []modelv1.ModelStackComponent{
		{Name: "db", BoxName: "mysql", Box: &modelv1.ModelBoxSpec{}},
		{Name: "mail", BoxName: "mail", External: &modelv1.ModelStackExternal{}},
	}}}
	if got, err := componentBox(stack, "db"); got != "mysql" || err != nil {
		t.Errorf("db has box %q, %v, want mysql", got, err)
	}
	for _, name := range []string{"mail", "nope"} {
		if got, err := componentBox(stack, name); err == nil || !strings.Contains(err.Error(), "must be one of db") {
			t.Errorf("%s has box %q, %v, want an error", name, got, err)
		}
	}
}
