// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package ecosystem

import (
	"testing"

	lua "github.com/yuin/gopher-lua"
)

// runLua runs a script over an object as Argo CD does, without useOpenLibs: with the base library, tables, and of the module os the
// functions date and time only. It returns the result of the script.
func runLua(t *testing.T, script string, object map[string]any) any {
	t.Helper()
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	for name, open := range map[string]lua.LGFunction{
		lua.LoadLibName: lua.OpenPackage,
		lua.BaseLibName: lua.OpenBase,
		lua.TabLibName:  lua.OpenTable,
		lua.OsLibName:   lua.OpenOs,
	} {
		if err := state.CallByParam(lua.P{Fn: state.NewFunction(open), Protect: true}, lua.LString(name)); err != nil {
			t.Fatal(err)
		}
	}
	all := state.GetGlobal(lua.OsLibName)
	state.SetGlobal(lua.OsLibName, lua.LNil)
	loaded := state.GetField(state.GetGlobal(lua.LoadLibName), "loaded")
	state.SetField(loaded, lua.OsLibName, lua.LNil)
	state.PreloadModule(lua.OsLibName, func(state *lua.LState) int {
		module := state.NewTable()
		for _, name := range []string{"date", "time"} {
			module.RawSetString(name, state.GetField(all, name))
		}
		state.Push(module)
		return 1
	})

	state.SetGlobal("obj", toLua(state, object))
	if err := state.DoString(script); err != nil {
		t.Fatal(err)
	}
	return fromLua(t, state.Get(-1))
}

func toLua(state *lua.LState, value any) lua.LValue {
	switch value := value.(type) {
	case nil:
		return lua.LNil
	case bool:
		return lua.LBool(value)
	case string:
		return lua.LString(value)
	case int64:
		return lua.LNumber(value)
	case float64:
		return lua.LNumber(value)
	case []any:
		table := state.NewTable()
		for _, item := range value {
			table.Append(toLua(state, item))
		}
		return table
	case map[string]any:
		table := state.NewTable()
		for key, item := range value {
			table.RawSetString(key, toLua(state, item))
		}
		return table
	default:
		panic("not a value of JSON")
	}
}

// fromLua returns the value with numbers as int64, as an object has them. Lua has one kind of tables: one without an item at 1
// is an object.
func fromLua(t *testing.T, value lua.LValue) any {
	t.Helper()
	switch value := value.(type) {
	case *lua.LNilType:
		return nil
	case lua.LBool:
		return bool(value)
	case lua.LString:
		return string(value)
	case lua.LNumber:
		return int64(value)
	case *lua.LTable:
		if value.Len() > 0 {
			var items []any
			for i := 1; i <= value.Len(); i++ {
				items = append(items, fromLua(t, value.RawGetInt(i)))
			}
			return items
		}
		items := map[string]any{}
		value.ForEach(func(key, item lua.LValue) { items[key.String()] = fromLua(t, item) })
		return items
	default:
		t.Fatalf("the script returns a %s", value.Type())
		return nil
	}
}
