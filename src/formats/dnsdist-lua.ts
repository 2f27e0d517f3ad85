/** How often dnsdist looks for a new file, in seconds. */
const REFRESH_SECONDS = 1;

/**
 * The Lua file beside a constant database, for `dofile` in the configuration of dnsdist. It defines rules once; queries run no Lua,
 * which would take four times as long, unless there are more than four lists and the name is in the database.
 */
export function dnsdistLua(lists: readonly (string | undefined)[]): string {
  const named = lists.map((name) => (name === undefined ? "false" : luaText(name)));
  return `-- Written by rules-compiler. In the configuration of dnsdist:
--   local lists = dofile('/path/of/this/file')
--   addAction(lists.blocks(${named.find((name) => name !== "false") ?? ""}), RCodeAction(DNSRCode.NXDOMAIN))
-- lists.blocks() without names matches what any list blocks.
local LISTS = { ${named.join(", ")} }
local file = debug.getinfo(1, 'S').source:match('^@(.*)%.lua$')
local store = newCDBKVStore(file, ${REFRESH_SECONDS})

-- Sets a tag to the lists that block a name: the closest parent decides, unless there is an entry for the name alone.
local tag = file
local parents = KeyValueLookupKeySuffix(1, true)
local alone = KeyValueLookupKeyQName(false)
addAction(AllRule(), KeyValueStoreLookupAction(store, parents, tag))
addAction(KeyValueStoreLookupRule(store, alone), KeyValueStoreLookupAction(store, alone, tag))

-- The tag has a hexadecimal digit for every four lists.
local function has(value, list)
  local digit = tonumber(value:sub(math.ceil(list / 4), math.ceil(list / 4)), 16) or 0
  return math.floor(digit / 2 ^ ((list - 1) % 4)) % 2 == 1
end

local function hasOne(value, wanted)
  for _, list in ipairs(wanted) do
    if has(value, list) then return true end
  end
  return false
end

local function numberOf(name)
  for list, known in ipairs(LISTS) do
    if known == name then return list end
  end
  error('no list ' .. name .. ' in ' .. file)
end

local lists = {}

-- A rule that matches the names that one of these lists blocks.
function lists.blocks(...)
  local wanted = {}
  for _, name in ipairs({ ... }) do wanted[#wanted + 1] = numberOf(name) end
  if #wanted == 0 then
    for list in ipairs(LISTS) do wanted[#wanted + 1] = list end
  end
  local isListed = NotRule(TagRule(tag, ''))
  if #LISTS > 4 then
    local known = {}
    return AndRule({ isListed, LuaRule(function(query)
      local value = query:getTag(tag)
      if known[value] == nil then known[value] = hasOne(value, wanted) end
      return known[value]
    end) })
  end
  local values = {}
  for number = 1, 15 do
    local value = string.format('%x', number)
    if hasOne(value, wanted) then values[#values + 1] = TagRule(tag, value) end
  end
  return AndRule({ isListed, OrRule(values) })
end

return lists
`;
}

/** A text in quotes; all bytes that could end it are escaped. */
function luaText(text: string): string {
  const bytes = new TextEncoder().encode(text);
  const parts = Array.from(bytes, (byte) => {
    const char = String.fromCharCode(byte);
    return /[\w .:,()+&-]/.test(char) ? char : `\\${String(byte).padStart(3, "0")}`;
  });
  return `'${parts.join("")}'`;
}
