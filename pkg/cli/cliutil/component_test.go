// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cliutil

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned/fake"
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

func TestWithComponentsGetsOnlyBoxesThatAreNotListed(t *testing.T) {
	t.Parallel()
	stack := &modelv1.ModelStack{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "shop", UID: "shop"}}
	client := fake.NewSimpleClientset()
	box := func(namespace, name string) *modelv1.ModelBox {
		stack.Spec.Components = append(stack.Spec.Components, modelv1.ModelStackComponent{Name: name, BoxName: name, Box: &modelv1.ModelBoxSpec{}})
		box := &modelv1.ModelBox{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(namespace + "/" + name)}}
		box.OwnerReferences = []metav1.OwnerReference{{APIVersion: "model.github.com/v1", Kind: "ModelStack", Name: "shop", UID: "shop", Controller: ptr.To(true)}}
		return box
	}
	web, db, elsewhere := box("default", "web"), box("default", "db"), box("other", "mail")
	if err := client.Tracker().Create(modelv1.SchemeGroupVersion.WithResource(Boxes), db, db.Namespace); err != nil {
		t.Fatal(err)
	}
	selected, err := WithComponents(t.Context(), client, &Objects{Boxes: []*modelv1.ModelBox{web, elsewhere}, Stacks: []*modelv1.ModelStack{stack}})
	if err != nil {
		t.Fatal(err)
	}
	var names, requests []string
	for _, box := range selected {
		names = append(names, box.Namespace+"/"+box.Name)
	}
	for _, action := range client.Actions() {
		requests = append(requests, action.GetVerb()+" "+action.(clienttesting.GetAction).GetName())
	}
	if diff := cmp.Diff([]string{"default/web", "other/mail", "default/db"}, names); diff != "" {
		t.Errorf("boxes, -want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"get db", "get mail"}, requests); diff != "" {
		t.Errorf("requests, -want +got:\n%s", diff)
	}
}
