-- The buffer of a transcript: entries in order, each some lines, and only the lines that differ are ever written.
--
-- Owns the buffer's text, that the cursor of a window stays where it is unless it stood on the last line, and that an
-- update of one entry touches no line of another. Does not own what the lines say.

local M = {}

---@class agent_ls.Entry
---@field id string
---@field ord number
---@field group 'text'|'call'
---@field lead integer blank lines before it
---@field lines string[]

---@class agent_ls.View
---@field buf integer
---@field entries agent_ls.Entry[]
---@field by_id table<string, agent_ls.Entry>
---@field total integer lines of the buffer
---@field tick integer `b:changedtick` after what was written last
local View = {}
View.__index = View

---@param buf integer
---@param head string the first line, which says what is shown
function M.new(buf, head)
  local entry = { id = '@head', ord = -1, group = 'text', lead = 0, lines = { head } }
  local view = setmetatable({ buf = buf, entries = { entry }, by_id = { ['@head'] = entry }, total = 1 }, View)
  view:_write(0, -1, { head })
  return view
end

--- The cursor on the last line and that line at the bottom: setting the cursor alone does not scroll far enough in a
--- window that is not the current one.
function M.to_end(window, last)
  vim.api.nvim_win_set_cursor(window, { last, 0 })
  if vim.fn.line('w$', window) >= last then
    return
  end
  vim.api.nvim_win_call(window, function()
    local room = vim.fn.winheight(0) - (vim.wo.winbar ~= '' and 1 or 0)
    local top = last
    while top > 1 do
      local folded = vim.fn.foldclosed(top - 1)
      local above = folded > 0 and folded or top - 1
      if vim.api.nvim_win_text_height(0, { start_row = above - 1, end_row = last - 1 }).all > room then
        break
      end
      top = above
    end
    vim.fn.winrestview({ topline = top })
  end)
end

local function height(entry)
  return #entry.lines == 0 and 0 or entry.lead + #entry.lines
end

--- Whether the buffer is as this view has left it: nobody else has loaded, cleared or changed it.
function View:valid()
  return vim.api.nvim_buf_is_loaded(self.buf) and vim.api.nvim_buf_get_changedtick(self.buf) == self.tick
end

--- Blank lines before an entry: none between calls in a row.
local function lead(before, group)
  return (not before or (before.group == 'call' and group == 'call')) and 0 or 1
end

function View:_before(place)
  for at = place - 1, 1, -1 do
    if #self.entries[at].lines > 0 then
      return self.entries[at]
    end
  end
end

--- Where an entry stands, and the row where it begins.
function View:_place(id)
  local row = self.total
  for at = #self.entries, 1, -1 do
    row = row - height(self.entries[at])
    if self.entries[at].id == id then
      return at, row
    end
  end
end

--- Somebody selects, searches, or has an operator that waits for its motion: where the cursor is means something.
local function is_held()
  local mode = vim.api.nvim_get_mode().mode
  return mode:find('^[vV\22sS\19]') or mode:find('^no') or (mode:find('^c') and vim.fn.getcmdtype():find('[/?]'))
end

--- Windows whose cursor stands on the last line.
function View:_following()
  local found, held = {}, is_held()
  for _, window in ipairs(vim.fn.win_findbuf(self.buf)) do
    local last = vim.api.nvim_win_get_cursor(window)[1] >= self.total
    if last and not (held and window == vim.api.nvim_get_current_win()) then
      found[#found + 1] = window
    end
  end
  return found
end

function View:_change(work)
  local following = self.total and self:_following() or {}
  vim.bo[self.buf].modifiable = true
  work()
  vim.bo[self.buf].modifiable = false
  vim.bo[self.buf].modified = false
  self.tick = vim.api.nvim_buf_get_changedtick(self.buf)
  local last = vim.api.nvim_buf_line_count(self.buf)
  for _, window in ipairs(following) do
    M.to_end(window, last)
  end
end

function View:_write(from, to, lines)
  self:_change(function()
    vim.api.nvim_buf_set_lines(self.buf, from, to, false, lines)
  end)
end

local function with_lead(entry)
  if #entry.lines == 0 then
    return {}
  end
  return entry.lead == 0 and entry.lines or vim.list_extend({ '' }, entry.lines)
end

--- Writes what differs between two states of the same rows.
function View:_replace(row, old, new)
  local top = 0
  while top < #old and top < #new and old[top + 1] == new[top + 1] do
    top = top + 1
  end
  local bottom = 0
  while bottom < #old - top and bottom < #new - top and old[#old - bottom] == new[#new - bottom] do
    bottom = bottom + 1
  end
  if top == #old and top == #new then
    return
  end
  self:_write(row + top, row + #old - bottom, vim.list_slice(new, top + 1, #new - bottom))
  self.total = self.total + #new - #old
end

--- An entry as it is now, at its place; without lines it is there and shows nothing.
function View:put(id, ord, lines, group)
  local entry = self.by_id[id]
  if entry and entry.ord ~= ord and not self:_renumbered(entry, ord) then
    self:remove(id)
    entry = nil
  end
  if not entry then
    entry = { id = id, ord = ord, group = group, lead = 0, lines = {} }
    self.by_id[id] = entry
    local at = #self.entries
    while at > 1 and self.entries[at].ord > ord do
      at = at - 1
    end
    table.insert(self.entries, at + 1, entry)
  end
  local at, row = self:_place(id)
  local old = with_lead(entry)
  entry.lines, entry.group, entry.lead = lines, group, lead(self:_before(at), group)
  self:_replace(row, old, with_lead(entry))
  self:_settle(at + 1, row + height(entry))
end

--- Text in flight gets its number when it is committed; nearly always it stands at its place already.
function View:_renumbered(entry, ord)
  local at = self:_place(entry.id)
  local before, after = self.entries[at - 1], self.entries[at + 1]
  if (before and before.ord > ord) or (after and after.ord < ord) then
    return false
  end
  entry.ord = ord
  return true
end

--- The next entry that shows something has another one before it now.
function View:_settle(at, row)
  while self.entries[at] and #self.entries[at].lines == 0 do
    at = at + 1
  end
  local entry = self.entries[at]
  if entry then
    local wanted = lead(self:_before(at), entry.group)
    if wanted ~= entry.lead then
      local old = with_lead(entry)
      entry.lead = wanted
      self:_replace(row, old, with_lead(entry))
    end
  end
end

function View:remove(id)
  if self.by_id[id] then
    local at, row = self:_place(id)
    self:_replace(row, with_lead(self.entries[at]), {})
    table.remove(self.entries, at)
    self.by_id[id] = nil
    self:_settle(at, row)
  end
end

--- Text goes on at the end of an entry; `pieces` as nvim_buf_set_text takes them.
function View:append(id, pieces)
  local entry = self.by_id[id]
  local _, row = self:_place(id)
  local last = row + height(entry) - 1
  local column = #entry.lines[#entry.lines]
  entry.lines[#entry.lines] = entry.lines[#entry.lines] .. pieces[1]
  for place = 2, #pieces do
    entry.lines[#entry.lines + 1] = pieces[place]
  end
  self:_change(function()
    vim.api.nvim_buf_set_text(self.buf, last, column, last, column, pieces)
  end)
  self.total = self.total + #pieces - 1
end

--- Many entries at once, in order: all that there are, or (`above`) those before the ones that are there.
---@param given agent_ls.Entry[]
function View:load(given, above)
  local head = self.entries[1]
  local rest = above and vim.list_slice(self.entries, 2) or {}
  local entries, by_id, lines = { head }, { ['@head'] = head }, {}
  local before = head
  for _, entry in ipairs(given) do
    entry.lead = lead(before, entry.group)
    entries[#entries + 1] = entry
    by_id[entry.id] = entry
    if #entry.lines > 0 then
      vim.list_extend(lines, with_lead(entry))
      before = entry
    end
  end
  for _, entry in ipairs(rest) do
    entries[#entries + 1] = entry
    by_id[entry.id] = entry
  end
  self.entries, self.by_id = entries, by_id
  self:_write(1, above and 1 or -1, lines)
  self.total = (above and self.total or 1) + #lines
  self:_settle(#given + 2, 1 + #lines)
end

--- The entry that a row belongs to, and the row of its first line.
function View:at(row)
  local from = 0
  for _, entry in ipairs(self.entries) do
    local to = from + height(entry)
    if row < to then
      return entry.id, from + entry.lead
    end
    from = to
  end
end

--- The row of an entry's first line, and how many it has.
function View:rows(id)
  local entry = self.by_id[id]
  if entry and #entry.lines > 0 then
    local _, row = self:_place(id)
    return row + entry.lead, #entry.lines
  end
end

return M
