// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rollouts

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func TestNumberOfQueriesAtATime(t *testing.T) {
	for _, row := range []struct {
		name       string
		namespaces []string
		want       int
	}{
		{"of one namespace", []string{"shop"}, maxConcurrentQueriesOfNamespace},
		{"of several namespaces", []string{"shop", "mail", "chat", "bank"}, maxConcurrentQueries},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				running, most := make(chan struct{}, 100), 0
				m := newMeasurements(answerFunc(func(context.Context, string) ([]float64, error) {
					running <- struct{}{}
					most = max(most, len(running))
					time.Sleep(time.Second)
					<-running
					return nil, nil
				}))
				for i := range 3 * maxConcurrentQueries {
					state := &modelv1.ModelBoxRolloutCheckStatus{Name: strconv.Itoa(i)}
					m.start(t.Context(), types.NamespacedName{Namespace: row.namespaces[i%len(row.namespaces)], Name: "web"}, "up", state, time.Now())
				}
				time.Sleep(time.Minute)
				if most != row.want {
					t.Errorf("%d at a time, want %d", most, row.want)
				}
				if left := len(m.slots.namespaces); left > 0 {
					t.Errorf("%d namespaces have queries in the end", left)
				}
			})
		})
	}
}

// A namespace with slow queries must not delay the queries of another one.
func TestSlowQueriesOfANamespace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slots := newQuerySlots()
		for range 10 * maxConcurrentQueries {
			go func() { _ = slots.do(t.Context(), "shop", func() { time.Sleep(time.Hour) }) }()
		}
		synctest.Wait()
		begin := time.Now()
		if err := slots.do(t.Context(), "mail", func() {}); err != nil || time.Since(begin) > 0 {
			t.Errorf("got %v after %s", err, time.Since(begin))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := slots.do(ctx, "shop", func() { t.Error("there is a slot") }); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		time.Sleep(100 * time.Hour)
	})
}
