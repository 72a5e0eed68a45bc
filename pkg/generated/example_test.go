// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package generated_test

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned/fake"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/informers/externalversions"
)

// A program's code takes the interface, which versioned.NewForConfig gives for a cluster, and the fake for a test.
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	// The fake that also applies, fake.NewClientset, guesses "modelboxs" for the resource and finds none.
	if err := deploy(ctx, fake.NewSimpleClientset()); err != nil {
		fmt.Println(err)
	}
	// Output: web runs nginx:1.7.9
}

// deploy creates a box, and reads it from a cache that watches.
func deploy(ctx context.Context, client versioned.Interface) error {
	box := &modelv1.ModelBox{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec:       modelv1.ModelBoxSpec{Image: "nginx:1.7.9"},
	}
	if _, err := client.ModelV1().ModelBoxes("default").Create(ctx, box, metav1.CreateOptions{}); err != nil {
		return err
	}

	factory := externalversions.NewSharedInformerFactory(client, 0)
	informer := factory.Model().V1().ModelBoxes()
	synced := informer.Informer().HasSynced
	factory.StartWithContext(ctx)
	if !cache.WaitForCacheSync(ctx.Done(), synced) {
		return fmt.Errorf("the cache did not fill: %w", ctx.Err())
	}
	cached, err := informer.Lister().ModelBoxes("default").Get("web")
	if err != nil {
		return err
	}
	fmt.Println(cached.Name, "runs", cached.Spec.Image)
	return nil
}
