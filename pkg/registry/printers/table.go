// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package printers prints objects as the tables that "kubectl get" shows.
package printers

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"
)

// TableConvertor prints objects of one kind, and lists of them.
type TableConvertor[T metav1.Object] struct {
	Columns []metav1.TableColumnDefinition
	// Cells returns what an object has in each of the columns.
	Cells func(T) []any
}

// ConvertToTable returns a row for the object, or one for each object of the list. An object of another kind is an error.
func (c TableConvertor[T]) ConvertToTable(_ context.Context, object, tableOptions runtime.Object) (*metav1.Table, error) {
	table := &metav1.Table{}
	if options, ok := tableOptions.(*metav1.TableOptions); !ok || !options.NoHeaders {
		table.ColumnDefinitions = c.Columns
	}
	addRow := func(object runtime.Object) error {
		typed, ok := object.(T)
		if !ok {
			return fmt.Errorf("expected a %T to print, got %T", typed, object)
		}
		table.Rows = append(table.Rows, metav1.TableRow{Cells: c.Cells(typed), Object: runtime.RawExtension{Object: object}})
		return nil
	}
	if !meta.IsListType(object) {
		if err := addRow(object); err != nil {
			return nil, err
		}
		table.ResourceVersion = object.(T).GetResourceVersion()
		return table, nil
	}
	list, err := meta.ListAccessor(object)
	if err != nil {
		return nil, fmt.Errorf("reading the metadata of the list: %w", err)
	}
	table.ListMeta = metav1.ListMeta{
		SelfLink:           list.GetSelfLink(),
		ResourceVersion:    list.GetResourceVersion(),
		Continue:           list.GetContinue(),
		RemainingItemCount: list.GetRemainingItemCount(),
	}
	if err := meta.EachListItem(object, addRow); err != nil {
		return nil, err
	}
	return table, nil
}

// Age returns the time since the object was created, as short as "kubectl get" shows it.
func Age(object metav1.Object) string {
	created := object.GetCreationTimestamp()
	if created.IsZero() {
		return "<unknown>"
	}
	return duration.HumanDuration(time.Since(created.Time))
}
